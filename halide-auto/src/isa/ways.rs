//! A stage with all ways in which instructions compute it: mappings, their tiles, and orders of the loops around these.

use super::approach::Answer;
use super::contraction::Contraction;
use super::emit::Chosen;
use super::home::Home;
use super::mapped::MappedStage;
use super::memory::Order;
use super::needle::Needle;
use super::tile::Tile;
use crate::attempt::Unsuited;
use halide_sched::plan::Mapping;
use std::collections::{BTreeMap, BTreeSet};

/// A mapping with its tiles, each with its orders.
pub(super) struct Way {
    pub(super) needle: Needle,
    pub(super) tiles: Vec<(Tile, Vec<Order>)>,
}

/// The numbers of a way, a tile of it, and an order of that.
pub(super) type Pick = (usize, usize, usize);

/// Some of the ways of a stage: numbers of ways, of tiles, and of orders.
pub(super) type Picks = Vec<(usize, Vec<(usize, Vec<usize>)>)>;

/// The tiles of a Func that several stages share, by its variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    sizes: BTreeMap<String, i64>,
    loops: Vec<String>,
}

/// A stage that instructions compute.
pub(super) struct Candidate {
    /// The stage, as schedules name it.
    pub(super) spelled: String,
    pub(super) contraction: Contraction,
    pub(super) home: Home,
    pub(super) ways: Vec<Way>,
    /// The mappings that are no ways.
    pub(super) passed_over: Vec<(Mapping, Unsuited)>,
    /// Tiles that the compiler refused, by the numbers of the way and the tile.
    pub(super) refused: BTreeSet<(usize, usize)>,
    pub(super) chosen: Option<Pick>,
    /// True if it is in loops of its own, since its reader has tiles that do not suit it.
    pub(super) is_apart: bool,
}

impl Candidate {
    /// The Func whose tiles it is in.
    pub(super) fn reader(&self) -> Option<&str> {
        match &self.home {
            Home::Reader { func, .. } if !self.is_apart => Some(func),
            _ => None,
        }
    }

    /// The way, tile and order that are chosen.
    fn taken(&self) -> Option<(&Needle, &Tile, &Order)> {
        let (way, tile, order) = self.chosen?;
        let (tile, orders) = &self.ways[way].tiles[tile];
        Some((&self.ways[way].needle, tile, &orders[order]))
    }

    /// The tiles of its reader, as it has chosen them.
    pub(super) fn frame(&self) -> Option<Frame> {
        let (_, tile, order) = self.taken()?;
        self.frame_of(tile, order)
    }

    fn frame_of(&self, tile: &Tile, order: &Order) -> Option<Frame> {
        let Home::Reader { vars, .. } = &self.home else { return None };
        let name = |of: usize| self.contraction.loops[of].dim.and_then(|dim| vars.get(dim)).cloned();
        let sizes = tile.sizes.iter().enumerate().filter_map(|(of, size)| Some((name(of)?, *size))).collect();
        Some(Frame { sizes, loops: order.loops.iter().filter_map(|of| name(*of)).collect() })
    }

    /// The ways that are left, and suit the tiles of a reader.
    pub(super) fn left(&self, frame: Option<&Frame>) -> Picks {
        let suits =
            |tile: &Tile, order: &Order| frame.is_none_or(|frame| self.frame_of(tile, order).as_ref() == Some(frame));
        let mut left = Picks::new();
        for (way, all) in self.ways.iter().enumerate() {
            let tiles = all.tiles.iter().enumerate().filter(|(n, _)| !self.refused.contains(&(way, *n)));
            let with_orders = tiles.map(|(n, (tile, orders))| {
                let suiting = orders.iter().enumerate().filter(|(_, order)| suits(tile, order));
                (n, suiting.map(|(at, _)| at).collect::<Vec<_>>())
            });
            let tiles: Vec<_> = with_orders.filter(|(_, orders)| !orders.is_empty()).collect();
            if !tiles.is_empty() {
                left.push((way, tiles));
            }
        }
        left
    }

    /// The answers to the question for a mapping.
    pub(super) fn mappings(&self, picks: &Picks) -> Vec<Answer> {
        let cycles = |(way, tiles): &(usize, Vec<(usize, Vec<usize>)>)| {
            tiles.iter().map(|(tile, orders)| self.least(*way, *tile, orders)).fold(f64::INFINITY, f64::min)
        };
        let answer =
            |pick: &(usize, _)| Answer { text: self.ways[pick.0].needle.mapping.to_string(), cycles: cycles(pick) };
        picks.iter().map(answer).collect()
    }

    /// The answers to the question for a tile.
    pub(super) fn tiles(&self, way: usize, picks: &[(usize, Vec<usize>)]) -> Vec<Answer> {
        let answer = |(tile, orders): &(usize, Vec<usize>)| {
            let sizes = named(&self.contraction, &self.ways[way].tiles[*tile].0.sizes);
            let sizes: Vec<String> = sizes.map(|(name, size)| format!("{name} {size}")).collect();
            Answer { text: sizes.join(" x "), cycles: self.least(way, *tile, orders) }
        };
        picks.iter().map(answer).collect()
    }

    /// The answers to the question for an order.
    pub(super) fn orders(&self, way: usize, tile: usize, picks: &[usize]) -> Vec<Answer> {
        let answer = |order: &usize| {
            let order = &self.ways[way].tiles[tile].1[*order];
            let loops = order.loops.iter().rev().map(|of| self.contraction.loops[*of].name.as_str());
            let loops: Vec<&str> = loops.collect();
            let text = format!("{}; copies of {}", loops.join(" "), self.copied(order).join(", "));
            Answer { text, cycles: order.total }
        };
        picks.iter().map(answer).collect()
    }

    fn least(&self, way: usize, tile: usize, orders: &[usize]) -> f64 {
        let all = &self.ways[way].tiles[tile].1;
        orders.iter().map(|order| all[*order].total).fold(f64::INFINITY, f64::min)
    }

    fn copied(&self, order: &Order) -> Vec<String> {
        order.copies.iter().map(|copy| self.contraction.operands[copy.operand].name.clone()).collect()
    }

    /// The choice, for directives. The first stage in the tiles of a reader `leads` it: it makes them.
    pub(super) fn directives(&self, threads: u32, (leads, is_alone): (bool, bool)) -> Option<Chosen<'_>> {
        let (needle, tile, order) = self.taken()?;
        let own = &Home::Own { is_output: false };
        let home = if self.is_apart { own } else { &self.home };
        Some(Chosen {
            contraction: &self.contraction,
            needle,
            sizes: &tile.sizes,
            order,
            home,
            threads,
            leads,
            is_alone,
        })
    }

    /// The mappings that are not chosen, each with the cycles of its best order.
    fn others(&self) -> Vec<(Mapping, f64)> {
        let left = self.left(None);
        let chosen = self.chosen.map(|(way, ..)| way);
        let others = left.iter().zip(self.mappings(&left)).filter(|((way, _), _)| Some(*way) != chosen);
        others.map(|((way, _), answer)| (self.ways[*way].needle.mapping.clone(), answer.cycles)).collect()
    }

    /// The choice, for people.
    pub(super) fn described(&self) -> Option<MappedStage> {
        let (needle, tile, order) = self.taken()?;
        let is_refused =
            |way: &usize| (0..self.ways[*way].tiles.len()).all(|tile| self.refused.contains(&(*way, tile)));
        let refused = (0..self.ways.len()).filter(is_refused);
        let refused = refused.map(|way| (self.ways[way].needle.mapping.clone(), Unsuited::Refused));
        Some(MappedStage {
            stage: self.spelled.clone(),
            mapping: needle.mapping.clone(),
            choices: self.ways.len() + self.passed_over.len(),
            tile: named(&self.contraction, &tile.sizes).map(|(name, size)| (name.to_string(), size)).collect(),
            copies: self.copied(order),
            cycles: order.total,
            others: self.others(),
            passed_over: self.passed_over.iter().cloned().chain(refused).collect(),
        })
    }
}

/// The loops of which a tile has several iterations.
fn named<'c>(contraction: &'c Contraction, sizes: &'c [i64]) -> impl Iterator<Item = (&'c str, i64)> {
    let all = contraction.loops.iter().zip(sizes).filter(|(_, size)| **size > 1);
    all.map(|(l, size)| (l.name.as_str(), *size))
}
