//! Gigs near a place.

use crate::gig::Gig;
use crate::user::{Coordinates, Kilometres};

/// The mean radius of the Earth in kilometres.
const RADIUS: f64 = 6_371.008_8;

/// A gig with its distance from a place.
#[derive(Clone, PartialEq, Debug)]
pub struct NearbyGig {
    pub gig: Gig,
    pub distance: Kilometres,
}

/// The latitudes of all places within this distance, from south to north.
#[must_use]
pub fn latitudes(from: Coordinates, within: Kilometres) -> (f64, f64) {
    let degrees = (within.get() / RADIUS).to_degrees();
    (from.latitude() - degrees, from.latitude() + degrees)
}

/// The gigs within this distance, nearest first, then by id; at most `limit`.
#[must_use]
pub fn nearest(gigs: Vec<Gig>, from: Coordinates, within: Kilometres, limit: usize) -> Vec<NearbyGig> {
    let with_distance = |gig: Gig| {
        let distance = gig.details.coordinates.and_then(|place| distance(from, place))?;
        (distance.get() <= within.get()).then_some(NearbyGig { gig, distance })
    };
    let mut nearby: Vec<NearbyGig> = gigs.into_iter().filter_map(with_distance).collect();
    nearby.sort_by(|one, other| {
        one.distance.get().total_cmp(&other.distance.get()).then(one.gig.id.cmp(&other.gig.id))
    });
    nearby.truncate(limit);
    nearby
}

/// The distance along the surface of the Earth, by the haversine formula.
fn distance(from: Coordinates, to: Coordinates) -> Option<Kilometres> {
    let half_chord = |from: f64, to: f64| ((to - from).to_radians() / 2.0).sin().powi(2);
    let cosines = from.latitude().to_radians().cos() * to.latitude().to_radians().cos();
    let square =
        half_chord(from.latitude(), to.latitude()) + cosines * half_chord(from.longitude(), to.longitude());
    // Rounding can exceed 1 at opposite points of the Earth.
    Kilometres::new(2.0 * RADIUS * square.min(1.0).sqrt().asin())
}
