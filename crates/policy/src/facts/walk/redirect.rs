//! Redirections on the walk, here-documents among them.

use super::{Spot, Walker};
use crate::facts::{
    bash::tree::Redirect,
    command::{HereDocument, Redirection},
    unclear::Obstacle,
};

impl Walker {
    pub(super) fn redirect(&mut self, redirect: &Redirect, command: Option<usize>, spot: &Spot) {
        match redirect {
            Redirect::Descriptor => {}
            Redirect::File { direction, target } => {
                let target = self.word(target, spot);
                let (direction, directory) = (*direction, self.directory.clone());
                let pipeline = spot.pipeline;
                self.facts.redirections.push(Redirection {
                    direction,
                    target,
                    command,
                    directory,
                    pipeline,
                });
            }
            Redirect::Here(body) => match body.get() {
                Some(body) => {
                    let before = self.facts.commands.len();
                    let body = self.word(body, spot);
                    let mut flow: Vec<usize> = (before..self.facts.commands.len()).collect();
                    flow.extend(self.flowing(&body));
                    if let Some(command) = command {
                        for reader in &mut self.facts.commands[command..before] {
                            reader.holds.extend(&flow);
                        }
                    }
                    self.facts.here_documents.push(HereDocument {
                        command,
                        body,
                        pipeline: spot.pipeline,
                        stage: spot.stage,
                    });
                }
                None => self.unclear(Obstacle::Syntax, "<<"),
            },
        }
    }
}
