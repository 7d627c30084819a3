//! What is done on a node's machine and in its network is for its operator to say, whatever people prefer.

use axum::http::StatusCode;
use commands::notification::PreferenceChanges;
use domain::notification::Channel;
use domain::notification_settings::{Allowed, Sounds};
use muster_tests::both_served_stores;
use muster_tests::stores::Bench;
use reactors::Telling;

use crate::desk::{Desk, news, prefer, react, trouble};
use crate::floor::Floor;

both_served_stores! {
    what_the_operator_does_not_allow_is_not_done_and_on_record_as_that,
    the_operators_own_sound_may_be_played_and_no_other,
}

/// Everything, and a sound.
fn all(desk: &Desk, sound: &str) -> PreferenceChanges {
    PreferenceChanges { sound_enabled: Some(true), sound_file: Some(Some(sound.to_owned())), ..desk.both() }
}

/// What became of the last news: by what, and why it was not allowed. Nothing failed.
async fn became(floor: &Floor) -> Vec<(Channel, Option<String>)> {
    let told = news(floor).await.remove(0).deliveries;
    assert!(told.iter().all(|it| it.at.is_some() && it.error.is_none()), "{told:?}");
    told.into_iter().map(|it| (it.channel, it.disallowed)).collect()
}

async fn what_the_operator_does_not_allow_is_not_done_and_on_record_as_that(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    prefer(&floor, all(&desk, &desk.sound("bell.wav"))).await;
    trouble(&floor).await;
    react(&floor, vec![desk.strict("one")]).await;
    let rules = [
        (Channel::Desktop, "the operator of this node allows no messages on its desktop"),
        (Channel::Sound, "the operator of this node allows no sounds"),
        (Channel::Webhook, "the address is not allowed: plain http"),
    ];
    assert_eq!(became(&floor).await, rules.map(|(channel, rule)| (channel, Some(rule.to_owned()))));
    assert_eq!((desk.shown(), desk.played(), desk.received.lock().unwrap().len()), (String::new(), String::new(), 0));
    let all = floor.bench.everything().await;
    let count = |event_type: &str| all.iter().filter(|it| it.event_type == event_type).count();
    assert_eq!((count("NotificationDisallowed"), count("NotificationFailed")), (3, 0));
}

async fn the_operators_own_sound_may_be_played_and_no_other(bench: Bench) {
    let (floor, desk) = (Floor::new(bench).await, Desk::new(StatusCode::OK).await);
    let (own, other) = (desk.sound("own.wav"), desk.sound("other.wav"));
    let allowed = Allowed { desktop: false, sounds: Sounds::Only(own.clone()) };
    let node = || Telling { allowed: allowed.clone(), ..desk.telling("one") };
    let only_sound =
        |file: &str| PreferenceChanges { push_enabled: Some(false), webhook_enabled: Some(false), ..all(&desk, file) };
    for (file, rule) in
        [(&own, None), (&other, Some("the operator of this node allows no sound but the one of the node".to_owned()))]
    {
        prefer(&floor, only_sound(file)).await;
        trouble(&floor).await;
        react(&floor, vec![node()]).await;
        assert_eq!(became(&floor).await, [(Channel::Sound, rule)]);
    }
    assert_eq!(desk.played(), format!("--|{own}|"));
}
