//! A person who changes the profile and reads it at every server: each read must show the last change.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failovers::load::SetOnDrop;
use crate::harness::{Person, Server};

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// The witness at each server.
pub(crate) struct Witness(Vec<Person>);

/// What a witness has seen.
#[derive(Default)]
pub(crate) struct Testimony {
    /// Reads that were answered.
    pub(crate) reads: usize,
    /// Answers that showed something else than the last change.
    pub(crate) stale: Vec<String>,
}

impl Witness {
    pub(crate) fn at(servers: &[Server]) -> Self {
        let person = servers[0].guest();
        Self(servers.iter().map(|server| person.at(&server.client())).collect())
    }

    /// Changes and reads while this work is done.
    pub(crate) fn during(&self, work: impl FnOnce()) -> Testimony {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let ends = SetOnDrop(&over);
            let watching = scope.spawn(|| self.watch(&over));
            work();
            drop(ends);
            watching.join().unwrap()
        })
    }

    /// Changes and reads until the flag is set.
    fn watch(&self, ends: &AtomicBool) -> Testimony {
        let mut seen = Testimony::default();
        let mut shown = self.0[0].get("/user/personal-info").data(200)["user"]["city"].clone();
        let mut attempt = 0;
        for count in 0.. {
            let city = json!(format!("City {count}"));
            let mut acknowledged = false;
            while !acknowledged {
                if ends.load(Ordering::SeqCst) {
                    return seen;
                }
                let change = self.0[attempt % self.0.len()].call("PATCH", "/user/personal-info");
                let answer = change.json(&json!({"city": city})).key(&format!("city-{count}")).send();
                acknowledged = answer.status == 200;
                attempt += 1;
                // A change without an acknowledgement may have been made or not.
                let allowed = if acknowledged { vec![&city] } else { vec![&shown, &city] };
                self.read(&allowed, &mut seen);
                thread::sleep(PAUSE);
            }
            shown = city;
        }
        seen
    }

    /// Reads at every server.
    fn read(&self, allowed: &[&Value], seen: &mut Testimony) {
        for (number, person) in self.0.iter().enumerate() {
            let answer = person.get("/user/personal-info");
            if answer.status == 200 {
                seen.reads += 1;
                let city = &answer.json()["data"]["user"]["city"];
                if !allowed.contains(&city) {
                    seen.stale.push(format!("server {number} shows {city} in place of {allowed:?}"));
                }
            }
        }
    }
}
