//! Launches and the tasks that they run.

use super::*;

impl Verifier<'_> {
    pub(super) fn launch(&mut self, task: TaskId, min: &Expr, extent: &Expr) {
        self.scalar(min, Type::INDEX, "the min of a launch");
        self.scalar(extent, Type::INDEX, "the extent of a launch");
        if self.stage() < Stage::Final {
            self.error(format!("a Launch at {:?}", self.stage()));
        }
        if let Some(Place::Task(from)) = self.place.iter().find(|p| matches!(p, Place::Task(_))) {
            self.launches.entry(*from).or_default().push(task);
        }
        let Some(info) = self.program.tasks.get(task) else {
            return self.error(format!("{task:?} is not in the table"));
        };
        for (s, ty) in &info.captures {
            let here = self.bound.get(s).and_then(|stack| stack.last()).map(|(_, ty)| *ty);
            if here != Some(*ty) {
                let found = here.map_or("not bound".to_string(), |t| t.to_string());
                self.error(format!("{task:?} captures {} of {ty}, which is {found} at its launch", self.sym(*s)));
            }
        }
        for buf in &info.buffers {
            self.used(*buf);
        }
    }

    pub(super) fn task(&mut self, id: TaskId, task: &Task) {
        if self.stage() < Stage::Final {
            self.error(format!("{id:?} at {:?}", self.stage()));
        }
        self.enter_root();
        if !self.loops.insert(task.id) {
            self.error(format!("two loops are {}", self.sym(Sym::Loop(task.id))));
        }
        for (s, ty) in &task.captures {
            self.known_sym(*s);
            if self.bound.insert(*s, vec![(0, *ty)]).is_some() {
                self.error(format!("{id:?} captures {} twice", self.sym(*s)));
            }
            if !matches!(s, Sym::Temp(_)) && *ty != Type::INDEX {
                self.error(format!("{id:?} captures {} as {ty}", self.sym(*s)));
            }
        }
        self.bind(Sym::Loop(task.id), Type::INDEX);
        self.inside(Place::Task(id), |v| v.storage(&task.buffers, |v| v.stmt(&task.body)));
    }

    /// No task launches itself, directly or through others.
    pub(super) fn launch_cycles(&mut self) {
        for start in self.program.tasks.ids() {
            let mut reached = Set::default();
            let mut todo = self.launches.get(&start).cloned().unwrap_or_default();
            while let Some(task) = todo.pop() {
                if task == start {
                    self.error(format!("{start:?} launches itself"));
                    break;
                }
                if reached.insert(task.index()) {
                    todo.extend(self.launches.get(&task).into_iter().flatten());
                }
            }
        }
    }
}
