//! Hand-assembled functions and what is found in them.

use super::bound::bound;
use super::cores::Core;
use super::counts::Counts;
use super::flow::Flow;
use super::loops::{innermost, natural};
use super::operation::{Kind, Reader};
use iced_x86::Mnemonic;

/// A loop in a loop.
const NEST: &str = "\
31 c0                         ; xor eax,eax
31 c9                         ; xor ecx,ecx
62 f1 7c 48 10 04 8e          ; vmovups zmm0,zmmword [rsi+rcx*4]
62 f2 7d 48 b8 0c 8a          ; vfmadd231ps zmm1,zmm0,zmmword [rdx+rcx*4]
62 f1 7c 48 11 0c 8f          ; vmovups zmmword [rdi+rcx*4],zmm1
48 83 c1 10                   ; add rcx,0x10
48 81 f9 00 01 00 00          ; cmp rcx,0x100
75 de                         ; jne 0x4
48 83 c0 01                   ; add rax,0x1
48 83 f8 08                   ; cmp rax,0x8
75 d2                         ; jne 0x2
c3                            ; ret";

/// Two jumps back to one head.
const TWO_BACK: &str = "\
c5 fc 10 06                   ; vmovups ymm0,ymmword [rsi]
48 83 c6 20                   ; add rsi,0x20
48 f7 c6 20 00 00 00          ; test rsi,0x20
74 ef                         ; je 0x0
c5 f4 58 c8                   ; vaddps ymm1,ymm1,ymm0
48 39 fe                      ; cmp rsi,rdi
75 e6                         ; jne 0x0
c3                            ; ret";

/// Operands of the stack of every sort, and what is none.
const STACK: &str = "\
4c 8b 44 24 08                ; mov r8,qword [rsp+0x8]
62 f1 7c 48 58 44 24 01       ; vaddps zmm0,zmm0,zmmword [rsp+0x40]
62 f1 7c 48 29 44 24 02       ; vmovaps zmmword [rsp+0x80],zmm0
c4 e1 f8 91 4c 24 10          ; kmovq qword [rsp+0x10],k1
4c 89 4c 24 18                ; mov qword [rsp+0x18],r9
c5 fa 10 94 84 c0 00 00 00    ; vmovss xmm2,dword [rsp+rax*4+0xc0]
62 f1 65 58 fe 5d fe          ; vpaddd zmm3,zmm3,dword bcst [rbp-0x8]
62 f1 65 48 fe 1d 40 00 00 00 ; vpaddd zmm3,zmm3,zmmword [rip+0x40]
4c 8d 54 24 20                ; lea r10,[rsp+0x20]
0f 18 0e                      ; prefetcht0 byte [rsi]
48 ff c8                      ; dec rax
75 b8                         ; jne 0x0
c3                            ; ret";

/// Lanes at addresses of their own, under masks.
const GATHERS: &str = "\
c5 fc 46 c8                   ; kxnorw k1,k0,k0
62 f2 7d 49 90 04 8e          ; vpgatherdd zmm0{k1},dword [rsi+zmm1*4]
c5 e5 76 db                   ; vpcmpeqd ymm3,ymm3,ymm3
c4 e2 65 92 14 8e             ; vgatherdps ymm2,dword [rsi+ymm1*4],ymm3
62 f1 7c ca 10 26             ; vmovups zmm4{k2}{z},zmmword [rsi]
62 f2 7d 4b a0 04 8f          ; vpscatterdd dword [rdi+zmm1*4]{k3},zmm0
c4 e2 65 93 2c 8e             ; vgatherqps xmm5,dword [rsi+ymm1*4],xmm3
48 83 e8 01                   ; sub rax,0x1
75 d2                         ; jne 0x0
c3                            ; ret";

/// A loop with two ways through it.
const BRANCHES: &str = "\
62 f1 7c 48 10 06             ; vmovups zmm0,zmmword [rsi]
48 f7 c7 3f 00 00 00          ; test rdi,0x3f
74 08                         ; je 0x17
62 f1 7c 48 11 07             ; vmovups zmmword [rdi],zmm0
eb 1e                         ; jmp 0x35
62 f1 7c 48 2b 07             ; vmovntps zmmword [rdi],zmm0
62 f1 7c 48 59 c8             ; vmulps zmm1,zmm0,zmm0
62 f1 7c 48 59 d0             ; vmulps zmm2,zmm0,zmm0
62 f1 7c 48 59 d8             ; vmulps zmm3,zmm0,zmm0
62 f1 7c 48 59 e0             ; vmulps zmm4,zmm0,zmm0
48 83 c7 40                   ; add rdi,0x40
4c 39 c7                      ; cmp rdi,r8
75 c2                         ; jne 0x0
c3                            ; ret";

/// Instructions by their kind.
const KINDS: [(&str, Kind); 38] = [
    ("c4 e2 6d b8 cb ; vfmadd231ps ymm1,ymm2,ymm3", Kind::Multiply),
    ("62 f1 6d 48 f5 cb ; vpmaddwd zmm1,zmm2,zmm3", Kind::IntMultiply),
    ("62 f2 6d 48 40 cb ; vpmulld zmm1,zmm2,zmm3", Kind::LongMultiply),
    ("c5 ed 58 cb ; vaddpd ymm1,ymm2,ymm3", Kind::FloatAdd),
    ("c5 ec 5f cb ; vmaxps ymm1,ymm2,ymm3", Kind::FloatCompare),
    ("62 f1 6c 48 c2 cb 01 ; vcmpltps k1,zmm2,zmm3", Kind::MaskCompare),
    ("c5 ed 66 cb ; vpcmpgtd ymm1,ymm2,ymm3", Kind::IntCompare),
    ("62 f1 6d 48 ed cb ; vpaddsw zmm1,zmm2,zmm3", Kind::IntCompare),
    ("62 f1 6d 48 fd cb ; vpaddw zmm1,zmm2,zmm3", Kind::IntAdd),
    ("62 f1 75 48 72 d2 03 ; vpsrld zmm1,zmm2,0x3", Kind::Shift),
    ("c5 f5 73 fa 03 ; vpslldq ymm1,ymm2,0x3", Kind::Shuffle),
    ("c4 e2 6d 00 cb ; vpshufb ymm1,ymm2,ymm3", Kind::Shuffle),
    ("c4 e2 6d 36 cb ; vpermd ymm1,ymm2,ymm3", Kind::Cross),
    ("c4 e3 7d 04 ca 03 ; vpermilps ymm1,ymm2,0x3", Kind::Shuffle),
    ("62 f2 7d 48 30 ca ; vpmovzxbw zmm1,ymm2", Kind::Cross),
    ("62 f2 7d 48 30 0e ; vpmovzxbw zmm1,ymmword [rsi]", Kind::Cross),
    ("62 f3 fd 48 3b 0e 01 ; vextracti64x4 ymmword [rsi],zmm1,0x1", Kind::Nothing),
    ("62 f2 7d 48 7c c8 ; vpbroadcastd zmm1,eax", Kind::Cross),
    ("62 f2 7d 48 18 0e ; vbroadcastss zmm1,dword [rsi]", Kind::Nothing),
    ("c4 e3 71 22 0e 01 ; vpinsrd xmm1,xmm1,dword [rsi],0x1", Kind::Logic),
    ("c5 f9 7e c8 ; vmovd eax,xmm1", Kind::ToGeneral),
    ("c5 f9 6e c8 ; vmovd xmm1,eax", Kind::Cross),
    ("62 f1 7c 48 28 ca ; vmovaps zmm1,zmm2", Kind::Nothing),
    ("62 f1 7c 49 28 ca ; vmovaps zmm1{k1},zmm2", Kind::Logic),
    ("c5 e9 ef ca ; vpxor xmm1,xmm2,xmm2", Kind::Nothing),
    ("62 f3 6d 48 25 cb 05 ; vpternlogd zmm1,zmm2,zmm3,0x5", Kind::Logic),
    ("c4 e1 fb 92 c8 ; kmovq k1,rax", Kind::Mask),
    ("c5 ec 41 cb ; kandw k1,k2,k3", Kind::Mask),
    ("c5 fc 51 ca ; vsqrtps ymm1,ymm2", Kind::Root32),
    ("c5 ed 5e cb ; vdivpd ymm1,ymm2,ymm3", Kind::Divide64),
    ("c5 fc 5b ca ; vcvtdq2ps ymm1,ymm2", Kind::Convert),
    ("62 f3 7d 48 08 ca 03 ; vrndscaleps zmm1,zmm2,0x3", Kind::Convert),
    ("c5 fa 10 0e ; vmovss xmm1,dword [rsi]", Kind::Nothing),
    ("c5 fd d7 c1 ; vpmovmskb eax,ymm1", Kind::ToGeneral),
    ("48 89 c8 ; mov rax,rcx", Kind::Nothing),
    ("48 8b 06 ; mov rax,qword [rsi]", Kind::Nothing),
    ("48 03 06 ; add rax,qword [rsi]", Kind::General),
    ("48 0f af c1 ; imul rax,rcx", Kind::GeneralMultiply),
];

/// The bytes of lines of hexadecimal digits, each with its instruction behind a semicolon.
fn bytes(text: &str) -> Vec<u8> {
    let digits = text.lines().flat_map(|line| line.split(';').next().unwrap_or("").split_whitespace());
    digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect()
}

fn flow(text: &str) -> Flow {
    Flow::decode(&bytes(text)).unwrap()
}

/// The counts of the only innermost loop.
fn counts(text: &str, spill_bytes: Option<u64>) -> Counts {
    let flow = flow(text);
    let loops = innermost(&flow);
    assert_eq!(loops.len(), 1);
    Counts::of_loop(&flow, &loops[0], spill_bytes)
}

fn core(name: &str) -> &'static Core {
    Core::ALL.into_iter().find(|core| core.name == name).unwrap()
}

/// The bound of the only innermost loop: cycles and limits of the cheapest and of the dearest way.
fn limits(core_name: &str, text: &str) -> Option<[(f64, String); 2]> {
    let flow = flow(text);
    let found = bound(core(core_name), &flow, &innermost(&flow)[0])?;
    Some([(found.least.cycles, found.least.by), (found.most.cycles, found.most.by)])
}

#[test]
fn a_nest_has_one_innermost_loop() {
    let flow = flow(NEST);
    let heads = |loops: Vec<super::loops::Loop>| {
        loops.iter().map(|l| flow.blocks[l.head].instructions[0].ip()).collect::<Vec<_>>()
    };
    assert_eq!((heads(natural(&flow)), heads(innermost(&flow))), (vec![2, 4], vec![4]));
    let expected = Counts {
        instructions: 6,
        loads: 2,
        stores: 1,
        multiply_adds: 1,
        vector_arithmetic: 1,
        bits: 512,
        ..Counts::default()
    };
    assert_eq!(counts(NEST, None), expected);
}

#[test]
fn two_jumps_to_one_head_are_one_loop() {
    let flow = flow(TWO_BACK);
    let loops = natural(&flow);
    assert_eq!((loops.len(), loops[0].blocks.len()), (1, 2));
    assert_eq!(innermost(&flow), loops);
    assert_eq!(counts(TWO_BACK, None).instructions, 7);
    // The short way: a load, an addition, a comparison with its jump.
    let [least, most] = limits("golden-cove", TWO_BACK).unwrap();
    assert_eq!((least, most), ((0.5, "issue".to_string()), (1.0, "p06".to_string())));
}

#[test]
fn operands_of_the_stack_are_told_apart() {
    let found = counts(STACK, Some(192));
    assert_eq!((found.stack_operands, found.stack_vectors, found.general_stores), (7, 2, 1));
    // At a varying index, and relative to the frame pointer.
    assert_eq!(found.frame_data, 2);
    assert_eq!(counts(STACK, Some(64)).frame_data, 4);
    assert_eq!(counts(STACK, None).frame_data, 0);
    // Neither an address that is computed nor a prefetch is an access of data.
    assert_eq!((found.loads, found.stores, found.constants), (0, 0, 1));
}

#[test]
fn gathers_are_loads_of_their_lanes() {
    let found = counts(GATHERS, None);
    assert_eq!((found.gathers, found.loads, found.stores, found.stack_operands), (3, 4, 1, 0));
    let flow = flow(GATHERS);
    let mut reader = Reader::default();
    let all = flow.blocks.iter().flat_map(|block| &block.instructions);
    let lanes: Vec<usize> = all.filter_map(|i| reader.read(i).access).map(|a| a.lanes).collect();
    assert_eq!(lanes, [16, 8, 1, 16, 4]);
    // 28 lanes by three ports, and 64 bytes by two of them.
    let [least, most] = limits("golden-cove", GATHERS).unwrap();
    assert_eq!(least, most);
    assert_eq!(least, (9.666667, "load 23B".to_string()));
}

#[test]
fn ways_through_a_loop_have_bounds_of_their_own() {
    let [least, most] = limits("golden-cove", BRANCHES).unwrap();
    // The short way starts six instructions: of resources that limit alike, the front end is named.
    assert_eq!(least, (1.0, "issue".to_string()));
    assert_eq!(most, (2.0, "p05".to_string()));
    let [least, most] = limits("zen4", BRANCHES).unwrap();
    assert_eq!(least, (2.0, "store 0".to_string()));
    assert_eq!(most, (4.0, "fp01".to_string()));
    assert_eq!(limits("zen3", BRANCHES), None, "it has no vectors of 512 bits");
}

#[test]
fn kinds_follow_mnemonics() {
    let mut reader = Reader::default();
    for (text, kind) in KINDS {
        let flow = flow(&format!("{text}\nc3"));
        let instruction = &flow.blocks[0].instructions[0];
        assert_eq!(reader.read(instruction).kind, kind, "{text}");
    }
}

#[test]
fn a_comparison_and_its_jump_are_started_as_one() {
    // The front end starts five of six instructions, in less than the cycle that two loads of 64 bytes take.
    let [least, most] = limits("golden-cove", NEST).unwrap();
    assert_eq!(least, most);
    assert_eq!(least, (1.0, "load 23".to_string()));
    let [least, _] = limits("zen4", NEST).unwrap();
    assert_eq!(least, (2.0, "store 0".to_string()));
}

#[test]
fn constants_behind_the_code_are_not_decoded() {
    let mut code = bytes(TWO_BACK);
    code.extend([0xff; 16]);
    assert_eq!(Flow::decode(&code).unwrap().blocks.len(), 3);
}

#[test]
fn bytes_that_are_no_function_are_an_error() {
    assert_eq!(Flow::decode(&[]).unwrap_err(), "0x0: no instruction");
    assert_eq!(Flow::decode(&bytes("eb 20 ; jmp 0x22")).unwrap_err(), "0x22: outside of the function");
    assert_eq!(
        Flow::decode(&bytes("ff e0 ; jmp rax")).unwrap_err(),
        "0x0: the destination of a jump is not in the code"
    );
    // A jump into the middle of an instruction, which is code there as well.
    let overlapping = flow("eb 01 ; jmp 3\n90\nc3");
    assert_eq!(overlapping.blocks[0].instructions[0].mnemonic(), Mnemonic::Jmp);
}

/// Every core has a cost for what takes ports, for all widths that it has.
#[test]
fn tables_are_complete() {
    use Kind::*;
    let lanes = [Multiply, FloatAdd, FloatCompare, Convert, Divide32, Root64, IntMultiply, IntAdd, IntCompare, Logic];
    let more = [Load, VectorLoad, Store, VectorStore, General, Jump, Shift, Shuffle, Cross, MaskCompare, Mask];
    for core in Core::ALL {
        let ports = core.ports.len() as u32;
        assert!(
            core.rows.iter().all(|row| row.ports.iter().all(|set| *set != 0 && set >> ports == 0)),
            "{}",
            core.name
        );
        for kind in lanes.into_iter().chain(more) {
            assert!(
                [0, 128, 256, 512].iter().all(|&bits| core.costs(kind, bits).count() > 0),
                "{}: {kind:?}",
                core.name
            );
        }
    }
    assert_eq!(core("golden-cove").label(0b0_0110_0001), "p0+load 23");
}
