//! Payloads with sealed text in them: everything that is no text stays byte for byte as it was.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::Lock;

/// Names the field of a sealed value.
const VALUE: &str = "sealed";
/// The same where an object stood, so that one can stand there again when it cannot be opened.
const OBJECT: &str = "sealedObject";

/// The payload with its text sealed; `None` if there is none. The payload is an event in its externally tagged form,
/// and paths begin within it; the items of a list have the path of the list.
pub(super) fn seal(
    payload: &str,
    text: &[&str],
    plain: &[&str],
    lock: &Lock,
) -> Result<Option<String>, serde_json::Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let mut sealing = Sealing { text, plain, lock, number: 0, path: String::new(), out: String::new() };
    sealing.out.reserve(payload.len() * 2);
    sealing.each_field(payload, |it, fields| it.look("", fields))?;
    Ok((sealing.number > 0).then_some(sealing.out))
}

/// What stands in the place of text that cannot be opened.
#[derive(Clone, Copy)]
pub(super) enum Otherwise {
    Erased,
    Sealed,
}

/// The payload with its text opened, where there is a key and it is the one; else with something in its place that has
/// the same shape.
pub(super) fn open(payload: &str, lock: Option<&Lock>, otherwise: Otherwise) -> Result<String, serde_json::Error> {
    let mut opening = Opening { lock, otherwise, path: String::new(), out: String::with_capacity(payload.len()) };
    opening.value(payload)?;
    Ok(opening.out)
}

struct Sealing<'a> {
    text: &'a [&'a str],
    plain: &'a [&'a str],
    lock: &'a Lock,
    /// How many values are sealed.
    number: u32,
    /// Where in the payload this is, as a JSON pointer.
    path: String,
    out: String,
}

impl Sealing<'_> {
    /// Looks for text in a value that is none itself.
    fn look(&mut self, path: &str, json: &str) -> Result<(), serde_json::Error> {
        let leads_on = path.is_empty() || self.text.iter().any(|it| is_within(it, path));
        match json.as_bytes().first() {
            Some(b'{') if leads_on => self.each_named_field(json, path, |it, path, json| {
                if it.text.contains(&path) { it.text(path, json) } else { it.look(path, json) }
            }),
            Some(b'[') if leads_on => self.each_item(json, |it, json| it.look(path, json)),
            _ => self.keep(json),
        }
    }

    fn text(&mut self, path: &str, json: &str) -> Result<(), serde_json::Error> {
        match json.as_bytes().first() {
            Some(b'n') => self.keep(json),
            Some(b'[') => self.each_item(json, |it, json| it.text(path, json)),
            Some(b'{') if self.plain.iter().any(|it| is_within(it, path)) => {
                self.each_named_field(json, path, |it, path, json| match json.as_bytes().first() {
                    Some(b'"') if it.plain.contains(&path) => it.keep(json),
                    Some(b'"' | b'[' | b'{') => it.text(path, json),
                    _ => it.keep(json),
                })
            }
            Some(b'{') => self.seal(OBJECT, json),
            _ => self.seal(VALUE, json),
        }
    }

    fn seal(&mut self, name: &str, json: &str) -> Result<(), serde_json::Error> {
        let sealed = self.lock.seal(self.number, &self.path, json);
        let sealed = sealed.ok_or_else(|| serde::de::Error::custom("a text is too long to be sealed"))?;
        self.number += 1;
        self.out += &format!(r#"{{"{name}":"{sealed}"}}"#);
        Ok(())
    }

    fn keep(&mut self, json: &str) -> Result<(), serde_json::Error> {
        self.out += json;
        Ok(())
    }

    fn each_named_field(
        &mut self,
        json: &str,
        path: &str,
        mut each: impl FnMut(&mut Self, &str, &str) -> Result<(), serde_json::Error>,
    ) -> Result<(), serde_json::Error> {
        self.each_field_with_name(json, |it, name, json| {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            each(it, &path, json)
        })
    }

    fn each_field(
        &mut self,
        json: &str,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), serde_json::Error>,
    ) -> Result<(), serde_json::Error> {
        self.each_field_with_name(json, |it, _, json| each(it, json))
    }
}

struct Opening<'a> {
    lock: Option<&'a Lock>,
    otherwise: Otherwise,
    path: String,
    out: String,
}

impl Opening<'_> {
    fn value(&mut self, json: &str) -> Result<(), serde_json::Error> {
        match json.as_bytes().first() {
            Some(b'{') => match serde_json::from_str::<Fields<'_>>(json)?.0.as_slice() {
                [(name, sealed)] if name == VALUE || name == OBJECT => self.open(name == OBJECT, sealed.get()),
                _ => self.each_field_with_name(json, |it, _, json| it.value(json)),
            },
            Some(b'[') => self.each_item(json, Self::value),
            _ => {
                self.out += json;
                Ok(())
            }
        }
    }

    fn open(&mut self, is_object: bool, sealed: &str) -> Result<(), serde_json::Error> {
        let sealed: String = serde_json::from_str(sealed)?;
        let word = match self.otherwise {
            Otherwise::Erased => super::ERASED,
            Otherwise::Sealed => super::SEALED,
        };
        match self.lock.and_then(|lock| lock.open(&self.path, &sealed)) {
            Some(json) => self.out += &json,
            None if is_object => self.out += &format!(r#"{{"text":"{word}"}}"#),
            None => self.out += &format!(r#""{word}""#),
        }
        Ok(())
    }
}

/// Goes through a payload and writes another one.
trait Walk {
    fn place(&mut self) -> (&mut String, &mut String);

    fn each_field_with_name(
        &mut self,
        json: &str,
        mut each: impl FnMut(&mut Self, &str, &str) -> Result<(), serde_json::Error>,
    ) -> Result<(), serde_json::Error> {
        let fields: Fields<'_> = serde_json::from_str(json)?;
        let (path, out) = self.place();
        let here = path.len();
        out.push('{');
        for (n, (name, value)) in fields.0.into_iter().enumerate() {
            let (path, out) = self.place();
            if n > 0 {
                out.push(',');
            }
            *out += &serde_json::to_string(&name)?;
            out.push(':');
            *path += "/";
            *path += &name.replace('~', "~0").replace('/', "~1");
            each(self, &name, value.get())?;
            self.place().0.truncate(here);
        }
        self.place().1.push('}');
        Ok(())
    }

    fn each_item(
        &mut self,
        json: &str,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), serde_json::Error>,
    ) -> Result<(), serde_json::Error> {
        let items: Vec<&RawValue> = serde_json::from_str(json)?;
        let (path, out) = self.place();
        let here = path.len();
        out.push('[');
        for (n, item) in items.into_iter().enumerate() {
            let (path, out) = self.place();
            if n > 0 {
                out.push(',');
            }
            *path += &format!("/{n}");
            each(self, item.get())?;
            self.place().0.truncate(here);
        }
        self.place().1.push(']');
        Ok(())
    }
}

impl Walk for Sealing<'_> {
    fn place(&mut self) -> (&mut String, &mut String) {
        (&mut self.path, &mut self.out)
    }
}

impl Walk for Opening<'_> {
    fn place(&mut self) -> (&mut String, &mut String) {
        (&mut self.path, &mut self.out)
    }
}

fn is_within(path: &str, object: &str) -> bool {
    path.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'))
}

/// The fields of an object in their order, each value as it is written.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(InOrder).map(Fields)
    }
}
