//! One exported event as one line: a CloudEvent 1.0 in JSON, with what the chain needs as extension attributes.
//!
//! Extension attributes are strings, because CloudEvents has no integer of 64 bits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::batch::Batch;
use crate::chain::Hash;
use crate::{StoredEvent, StreamId, from_micros};

/// The type of the line that closes an export: what has none is torn.
const CLOSING: &str = "muster.log.exported";
const SOURCE: &str = "muster";

/// A line that was read.
#[derive(Debug)]
pub(crate) enum Line {
    Event(Box<EventLine>),
    /// Everything has come, up to this position and link.
    Closing {
        position: i64,
        link: Hash,
    },
}

/// An event and its place in a batch.
#[derive(Debug)]
pub(crate) struct EventLine {
    pub(crate) event: StoredEvent,
    pub(crate) batch: i64,
    pub(crate) batch_size: usize,
    pub(crate) leaf: Hash,
    /// On the first event of a batch.
    pub(crate) previous_link: Option<Hash>,
    /// On the last event of a batch.
    pub(crate) link: Option<Hash>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Attributes {
    specversion: String,
    id: String,
    source: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    datacontenttype: Option<String>,
    position: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregatetype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregateid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eventversion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batchsize: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previouslink: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data_base64: Option<String>,
    #[serde(skip_serializing)]
    data: Option<Box<RawValue>>,
}

/// Writes a batch that follows a link, one line per event.
pub(crate) fn write(batch: &Batch, previous: &Hash, text: &mut String) -> Result<(), serde_json::Error> {
    let first = batch.events.first().map_or(0, |it| it.position);
    let last = batch.events.len() - 1;
    for (at, (event, leaf)) in batch.events.iter().zip(&batch.leaves).enumerate() {
        let inline = fits_a_line(&event.payload);
        let attributes = Attributes {
            specversion: "1.0".to_owned(),
            id: event.event_id.to_string(),
            source: SOURCE.to_owned(),
            r#type: event.event_type.clone(),
            subject: Some(event.stream.to_string()),
            time: written(event.recorded_at),
            datacontenttype: Some("application/json".to_owned()),
            position: event.position.to_string(),
            sequence: Some(event.sequence.to_string()),
            aggregatetype: Some(event.stream.aggregate_type.clone()),
            aggregateid: Some(event.stream.aggregate_id.clone()),
            eventversion: Some(event.event_version.clone()),
            workspace: event.workspace_id.map(|it| it.to_string()),
            batch: Some(first.to_string()),
            batchsize: Some(batch.events.len().to_string()),
            hash: Some(hex::encode(leaf)),
            previouslink: (at == 0).then(|| hex::encode(previous)),
            link: (at == last).then(|| hex::encode(batch.link)),
            metadata: Some(event.metadata.clone()),
            data_base64: (!inline).then(|| STANDARD.encode(&event.payload)),
            data: None,
        };
        text.push_str(&serde_json::to_string(&attributes)?);
        if inline {
            // The exact bytes, in place of the closing bracket.
            text.pop();
            text.push_str(",\"data\":");
            text.push_str(&event.payload);
            text.push('}');
        }
        text.push('\n');
    }
    Ok(())
}

/// Writes the line that says that everything has come.
pub(crate) fn write_closing(position: i64, link: &Hash, recorded_at: i64) -> Result<String, serde_json::Error> {
    let attributes = Attributes {
        specversion: "1.0".to_owned(),
        id: format!("exported-{position}"),
        source: SOURCE.to_owned(),
        r#type: CLOSING.to_owned(),
        time: written(recorded_at),
        position: position.to_string(),
        link: Some(hex::encode(link)),
        ..Attributes::default()
    };
    Ok(serde_json::to_string(&attributes)? + "\n")
}

/// Reads one line; what is wrong with it, if anything is.
pub(crate) fn read(text: &str) -> Result<Line, String> {
    let line: Attributes = serde_json::from_str(text).map_err(|e| format!("this is no whole JSON object: {e}"))?;
    if line.specversion != "1.0" {
        return Err("this is no CloudEvent of version 1.0".to_owned());
    }
    let position = number("position", Some(&line.position))?;
    if line.r#type == CLOSING {
        return Ok(Line::Closing { position, link: required_hash("link", line.link)? });
    }
    let payload = match (line.data, line.data_base64) {
        (Some(data), None) => String::from(Box::<str>::from(data)),
        (None, Some(data)) => {
            let bytes = STANDARD.decode(data).map_err(|e| format!("data_base64 is not base64: {e}"))?;
            String::from_utf8(bytes).map_err(|_| "data_base64 holds no text".to_owned())?
        }
        (Some(_), Some(_)) | (None, None) => return Err("it must have either data or data_base64".to_owned()),
    };
    let metadata = required("metadata", line.metadata)?;
    for (name, json) in [("data", &payload), ("metadata", &metadata)] {
        if !crate::well_formed::is_json(json) {
            return Err(format!("{name} is not JSON, or too deep"));
        }
    }
    let stream = StreamId {
        aggregate_type: required("aggregatetype", line.aggregatetype)?,
        aggregate_id: required("aggregateid", line.aggregateid)?,
    };
    let event_version = required("eventversion", line.eventversion)?;
    // PostgreSQL holds no NUL in text, so neither store does.
    if [&stream.aggregate_type, &stream.aggregate_id, &line.r#type, &event_version].iter().any(|it| it.contains('\0')) {
        return Err("a text holds a NUL".to_owned());
    }
    let time = DateTime::parse_from_rfc3339(&line.time).map_err(|e| format!("time is none: {e}"))?;
    let workspace = line.workspace.map(|it| id("workspace", &it)).transpose()?;
    let event = StoredEvent {
        position,
        stream,
        sequence: number("sequence", line.sequence.as_ref())?,
        event_type: line.r#type,
        event_version,
        payload,
        metadata,
        event_id: id("id", &line.id)?,
        workspace_id: workspace,
        recorded_at: time.timestamp_micros(),
    };
    let batch_size = usize::try_from(number("batchsize", line.batchsize.as_ref())?);
    Ok(Line::Event(Box::new(EventLine {
        event,
        batch: number("batch", line.batch.as_ref())?,
        batch_size: batch_size.map_err(|_| "batchsize is below 1".to_owned())?,
        leaf: required_hash("hash", line.hash)?,
        previous_link: line.previouslink.map(|it| hash("previouslink", &it)).transpose()?,
        link: line.link.map(|it| hash("link", &it)).transpose()?,
    })))
}

/// Whether the payload can stand in a line of JSON as it is, and be found in it again byte for byte.
fn fits_a_line(payload: &str) -> bool {
    let blank = [' ', '\t', '\n', '\r'];
    !payload.contains(['\n', '\r']) && !payload.starts_with(blank) && !payload.ends_with(blank) && payload != "null"
}

fn written(micros: i64) -> String {
    from_micros(micros).to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn required(name: &str, value: Option<String>) -> Result<String, String> {
    value.ok_or_else(|| format!("{name} is missing"))
}

fn number(name: &str, value: Option<&String>) -> Result<i64, String> {
    let value = value.ok_or_else(|| format!("{name} is missing"))?;
    value.parse().map_err(|_| format!("{name} is not a number: {value:?}"))
}

fn id(name: &str, text: &str) -> Result<Uuid, String> {
    Uuid::try_parse(text).map_err(|_| format!("{name} is no id: {text:?}"))
}

fn required_hash(name: &str, value: Option<String>) -> Result<Hash, String> {
    hash(name, &required(name, value)?)
}

fn hash(name: &str, text: &str) -> Result<Hash, String> {
    let mut hash = [0; 32];
    hex::decode_to_slice(text, &mut hash).map_err(|_| format!("{name} is no SHA-256 in hex"))?;
    Ok(hash)
}
