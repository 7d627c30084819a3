-- Where people are told what concerns them; the log knows only that it was changed.
create table notification_addresses (
    user_id text primary key,
    sound_file text,
    webhook_url text,
    changed_at integer not null
) strict;

-- What people had said before was in the events, the last of which counts.
insert into notification_addresses (user_id, sound_file, webhook_url, changed_at)
select e.aggregate_id,
    e.payload ->> '$.NotificationSettingsChanged.preferences.sound_file',
    e.payload ->> '$.NotificationSettingsChanged.preferences.webhook_url',
    e.recorded_at
from events e
join accounts a on a.user_id = e.aggregate_id
where e.aggregate_type = 'notification_settings' and e.event_type = 'NotificationSettingsChanged'
  and not exists (
    select 1 from events later
    where later.aggregate_type = e.aggregate_type and later.aggregate_id = e.aggregate_id
      and later.sequence > e.sequence);
