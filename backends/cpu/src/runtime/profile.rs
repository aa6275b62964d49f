//! Samples of runs: a thread that looks at the words of all threads every now and then.
//!
//! Each thread that takes part in a run has a word on a cache line of its own, in which compiled code and the runtime
//! write where they are (`shared/marks`). The sampler only reads. Its moments are drawn at random around a period, so
//! that they do not fall into step with loops. While a processor is left for it, the period is short; where every one
//! computes, each look interrupts a thread, so looks are rarer.
//!
//! A sampler may watch one run after the other. Then it does not matter how late its thread wakes: its moments do not
//! depend on those at which runs begin, so also parts of runs that are shorter than a period are seen as often as they
//! take time.

use crate::profile::{Activity, MemoryEvent, RunProfile, Sampled, Span};
use crate::tuning::{BUSY_PERIOD, LATE_PERIOD, MOST_EVENTS, PERIOD, SHORT_RUN, WAKING};
use halide_ir::code_place::Definition;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The word of a thread, alone on its cache line and the one that processors fetch with it.
#[repr(align(128))]
struct Word(AtomicU64);

/// The words of threads, and what they note themselves.
pub(crate) struct Marks {
    words: Box<[Word]>,
    begin: Instant,
    /// True once the sampler's thread is at work.
    ready: AtomicBool,
    /// True while a run is on.
    running: AtomicBool,
    /// The number of looks that met a run.
    samples: AtomicU64,
    /// Memory that was obtained and given back.
    memory: Mutex<Vec<MemoryEvent>>,
}

impl Marks {
    fn new(words: usize) -> Marks {
        let words = (0..words).map(|_| Word(AtomicU64::new(0))).collect();
        let [ready, running] = [const { AtomicBool::new(false) }; 2];
        Marks { words, begin: Instant::now(), ready, running, samples: AtomicU64::new(0), memory: Mutex::default() }
    }
    /// The word of the calling thread. Threads outside of the pool share the first one; a run has at most one of them.
    pub(crate) fn of_this_thread(&self) -> &AtomicU64 {
        let number = rayon::current_thread_index().map_or(0, |index| index + 1);
        &self.words.get(number).unwrap_or(&self.words[0]).0
    }
    /// Notes memory that was obtained or given back.
    pub(crate) fn note(&self, event: impl FnOnce(Duration) -> MemoryEvent) {
        let mut events = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() <= MOST_EVENTS {
            events.push(event(self.begin.elapsed()));
        }
    }
}

/// A thread that samples runs, until [`Executable::profile`](crate::Executable::profile).
pub struct Sampler {
    marks: Arc<Marks>,
    done: Arc<AtomicBool>,
    thread: JoinHandle<Looks>,
    runs: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Sampler {
    /// Starts a sampler of runs that use so many threads of the pool that this thread belongs to, or of rayon's own;
    /// `None` if the system has no thread for it.
    pub fn start(threads: usize) -> Option<Sampler> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let period = if threads < processors { PERIOD } else { BUSY_PERIOD };
        let marks = Arc::new(Marks::new(rayon::current_num_threads() + 1));
        let done = Arc::new(AtomicBool::new(false));
        let (watched, ends) = (marks.clone(), done.clone());
        let watch = move || {
            let mut looks = Looks::new(&watched);
            watched.ready.store(true, Ordering::Release);
            looks.watch(&watched, period, &ends);
            looks
        };
        let thread = thread::Builder::new().name("halide-sampler".into()).spawn(watch).ok()?;
        while !marks.ready.load(Ordering::Acquire) {
            thread::yield_now();
        }
        Some(Sampler { marks, done, thread, runs: AtomicU64::new(0), nanoseconds: AtomicU64::new(0) })
    }
    /// Returns the number of looks that met a run so far.
    pub fn samples(&self) -> u64 {
        self.marks.samples.load(Ordering::Relaxed)
    }
    /// The words for a run.
    pub(crate) fn marks(&self) -> Arc<Marks> {
        self.marks.clone()
    }
    /// Does the work of a run, and notes how long it takes.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        self.marks.running.store(true, Ordering::Release);
        let result = work();
        self.marks.running.store(false, Ordering::Release);
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
    /// Does what is left of the run that ended last, all of it one activity: such as waiting for results of a device.
    pub fn end_of_run<T>(&self, activity: Activity, work: impl FnOnce() -> T) -> T {
        let (begin, word) = (Instant::now(), self.marks.of_this_thread());
        let around = word.swap(activity.word(), Ordering::Relaxed);
        self.marks.running.store(true, Ordering::Release);
        let result = work();
        self.marks.running.store(false, Ordering::Release);
        word.store(around, Ordering::Relaxed);
        self.nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
    /// Ends the sampler of code that marks these definitions.
    pub(crate) fn finish(self, definitions: &[Definition]) -> RunProfile {
        self.done.store(true, Ordering::Release);
        self.thread.thread().unpark();
        let (runs, wall) = (self.runs.into_inner(), Duration::from_nanos(self.nanoseconds.into_inner()));
        // Nothing in the sampler panics; if it did, there would be no samples.
        let looks = self.thread.join().unwrap_or_else(|_| Looks::new(&self.marks));
        looks.profile(&self.marks, (runs, wall), definitions)
    }
}

/// The looks of a sampler so far.
struct Looks {
    /// The threads found at each word, and the looks that found any.
    found: BTreeMap<u64, [u64; 2]>,
    /// The word that each thread was last found at, and since when.
    last: Vec<(u64, Duration)>,
    /// Spans that have ended: thread, word, begin, end.
    spans: Vec<(usize, u64, Duration, Duration)>,
    /// The state of the generator of random moments (Marsaglia, Xorshift RNGs).
    random: u64,
}

impl Looks {
    fn new(marks: &Marks) -> Looks {
        let last = vec![(0, Duration::ZERO); marks.words.len()];
        let random = 0x9e37_79b9_7f4a_7c15 ^ (marks.begin.elapsed().as_nanos() as u64) << 1 | 1;
        Looks { found: BTreeMap::new(), last, spans: Vec::new(), random }
    }

    /// Looks at the words of runs until there are to be no more.
    fn watch(&mut self, marks: &Marks, period: Duration, done: &AtomicBool) {
        // Awake when the first run begins, whose first moments so count like any other.
        while !marks.running.load(Ordering::Acquire) && !done.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        let mut next = marks.begin.elapsed() + self.any(period);
        let mut is_first = true;
        while !done.load(Ordering::Acquire) {
            let now = marks.begin.elapsed();
            if let Some(rest) = next.checked_sub(now).filter(|rest| !rest.is_zero()) {
                // A thread that sleeps wakes late, which only the first look must not.
                if is_first && rest < WAKING {
                    std::hint::spin_loop()
                } else {
                    thread::park_timeout(rest)
                }
                continue;
            }
            if marks.running.load(Ordering::Acquire) {
                self.look(marks, now);
            }
            is_first = false;
            let period = if now > SHORT_RUN { LATE_PERIOD.max(period) } else { period };
            next = now + period / 2 + self.any(period);
        }
    }

    /// A random time up to `most`.
    fn any(&mut self, most: Duration) -> Duration {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        most.mul_f64((self.random >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn look(&mut self, marks: &Marks, now: Duration) {
        marks.samples.fetch_add(1, Ordering::Relaxed);
        let mut seen: Vec<u64> = Vec::new();
        for (thread, word) in marks.words.iter().enumerate() {
            let word = word.0.load(Ordering::Relaxed);
            let (before, since) = self.last[thread];
            if word != before {
                self.end_span(thread, before, since, now);
                self.last[thread] = (word, now);
            }
            if word == 0 {
                continue;
            }
            let found = self.found.entry(word).or_default();
            found[0] += 1;
            if !seen.contains(&word) {
                found[1] += 1;
                seen.push(word);
            }
        }
    }

    fn end_span(&mut self, thread: usize, word: u64, begin: Duration, end: Duration) {
        if word != 0 && self.spans.len() <= MOST_EVENTS {
            self.spans.push((thread, word, begin, end));
        }
    }

    fn profile(mut self, marks: &Marks, (runs, wall): (u64, Duration), definitions: &[Definition]) -> RunProfile {
        let now = marks.begin.elapsed();
        for (thread, (word, since)) in self.last.clone().into_iter().enumerate() {
            self.end_span(thread, word, since, now);
        }
        let mut memory = std::mem::take(&mut *marks.memory.lock().unwrap_or_else(PoisonError::into_inner));
        let cut = self.spans.len() > MOST_EVENTS || memory.len() > MOST_EVENTS;
        self.spans.truncate(MOST_EVENTS);
        memory.truncate(MOST_EVENTS);
        let activity = |word: u64| Activity::of_word(word, definitions);
        let sampled =
            |(word, [threads, samples]): (u64, [u64; 2])| Some(Sampled { activity: activity(word)?, threads, samples });
        let mut activities: Vec<Sampled> = self.found.into_iter().filter_map(sampled).collect();
        activities.sort_by_key(|sampled| sampled.activity);
        let span = |(thread, word, begin, end)| Some(Span { thread, activity: activity(word)?, begin, end });
        let timeline = self.spans.into_iter().filter_map(span).collect();
        let samples = marks.samples.load(Ordering::Relaxed);
        RunProfile { runs, wall, samples, activities, timeline, memory, cut }
    }
}
