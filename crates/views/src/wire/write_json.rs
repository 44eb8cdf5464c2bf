//! JSON without serde, for the answers that are sent most often: a few copies into the buffer for each field, and none
//! of the calls of a general serializer. The bytes are those of `serde_json`.

/// A value that writes itself as JSON, with the bytes that `serde_json` makes of it.
pub trait WriteJson {
    /// Appends the value.
    fn write_json(&self, out: &mut Vec<u8>);
}

/// An object. [`json_members`](crate::json_members) implements it.
pub trait WriteMembers {
    /// Appends each member after a comma.
    fn write_members(&self, out: &mut Vec<u8>);

    /// Appends the object.
    fn write_object(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.write_members(out);
        // Takes the place of the first comma.
        match out.get_mut(start) {
            Some(first) => *first = b'{',
            None => out.push(b'{'),
        }
        out.push(b'}');
    }
}

/// Makes a struct write its fields as an object, in the order of its declaration: the generics of the `impl`, the type,
/// and the fields, each with the contents of its attribute `serde`.
#[macro_export]
macro_rules! json_members {
    ([$($generics:tt)*] $object:ty { $($field:ident [$($serde:tt)*]),+ $(,)? }) => {
        impl $($generics)* $crate::wire::write_json::WriteMembers for $object {
            fn write_members(&self, out: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($crate::json_members!(@member out $field [$($serde)*]);)+
            }
        }

        impl $($generics)* $crate::wire::write_json::WriteJson for $object {
            fn write_json(&self, out: &mut Vec<u8>) {
                $crate::wire::write_json::WriteMembers::write_object(self, out);
            }
        }
    };
    (@member $out:ident $field:ident []) => {
        $crate::json_members!(@unnamed $out $field $field);
    };
    // The only keyword among the names.
    (@unnamed $out:ident $field:ident r#type) => {
        $crate::json_members!(@named $out $field, "type");
    };
    (@unnamed $out:ident $field:ident $name:ident) => {
        const { assert!(!matches!(stringify!($name).as_bytes(), [b'r', b'#', ..]), "a keyword") };
        $crate::json_members!(@named $out $field, stringify!($name));
    };
    (@member $out:ident $field:ident [rename = $name:literal]) => {
        $crate::json_members!(@named $out $field, $name);
    };
    (@member $out:ident $field:ident [flatten]) => {
        $crate::wire::write_json::WriteMembers::write_members($field, $out);
    };
    (@member $out:ident $field:ident [skip_serializing_if = "Option::is_none"]) => {
        if $field.is_some() {
            $crate::json_members!(@named $out $field, stringify!($field));
        }
    };
    (@named $out:ident $field:ident, $($name:tt)+) => {
        $out.extend_from_slice(concat!(",\"", $($name)+, "\":").as_bytes());
        $crate::wire::write_json::WriteJson::write_json($field, $out);
    };
}

/// Appends a value by the general serializer.
fn write_generally<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    // A write into memory cannot fail, and neither can a number or a text.
    let _ = serde_json::to_writer(out, value);
}

/// Lists the types that the general serializer writes without a detour.
macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl WriteJson for $number {
            fn write_json(&self, out: &mut Vec<u8>) {
                write_generally(self, out);
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, usize, i16, i64, f64);

impl WriteJson for bool {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
    }
}

impl WriteJson for str {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        write_escaped(self, out);
        out.push(b'"');
    }
}

/// Appends a text, escaped for a place between quotation marks.
pub fn write_escaped(text: &str, out: &mut Vec<u8>) {
    // Without an early end, many bytes are compared at once.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & !matches!(byte, b'"' | b'\\' | ..b' '));
    if is_plain {
        out.extend_from_slice(text.as_bytes());
    } else {
        let mut quoted = Vec::new();
        write_generally(text, &mut quoted);
        out.extend_from_slice(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default());
    }
}

impl WriteJson for String {
    fn write_json(&self, out: &mut Vec<u8>) {
        self.as_str().write_json(out);
    }
}

impl<T: WriteJson + ?Sized> WriteJson for &T {
    fn write_json(&self, out: &mut Vec<u8>) {
        (**self).write_json(out);
    }
}

impl<T: WriteJson> WriteJson for Option<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Some(value) => value.write_json(out),
            None => out.extend_from_slice(b"null"),
        }
    }
}

impl<T: WriteJson> WriteJson for Vec<T> {
    fn write_json(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (place, value) in self.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            value.write_json(out);
        }
        out.push(b']');
    }
}
