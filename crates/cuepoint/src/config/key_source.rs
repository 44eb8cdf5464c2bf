//! Where keys are kept.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::ConfigError;
use super::values::{Secret, TextValue};

/// What keys are for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyPurpose {
    /// They sign access tokens.
    Signing,
    /// They encrypt the secrets of webhook endpoints.
    Webhooks,
}

impl KeyPurpose {
    /// The configuration key with the path of their file.
    #[must_use]
    pub const fn file_key(self) -> &'static str {
        match self {
            Self::Signing => "auth.signing_key_file",
            Self::Webhooks => "webhooks.key_file",
        }
    }

    /// The configuration key with their text.
    #[must_use]
    pub const fn text_key(self) -> &'static str {
        match self {
            Self::Signing => "auth.signing_keys",
            Self::Webhooks => "webhooks.keys",
        }
    }

    /// The error of a start in production without such keys.
    #[must_use]
    pub const fn required(self) -> &'static str {
        match self {
            Self::Signing => {
                "auth.signing_key_file: is required in production, or auth.signing_keys, so that tokens outlive the process"
            }
            Self::Webhooks => {
                "webhooks.key_file: is required in production, or webhooks.keys, so that secrets of webhook endpoints \
                 outlive the process"
            }
        }
    }

    /// The name of the file that the first start creates.
    const fn created_file(self) -> &'static str {
        match self {
            Self::Signing => "signing-keys",
            Self::Webhooks => "webhook-keys",
        }
    }
}

/// Keys with their purpose and their place.
#[derive(Clone, Debug)]
pub struct KeySource {
    /// What they are for.
    pub purpose: KeyPurpose,
    /// Where they are.
    pub place: KeyPlace,
}

/// The place of keys.
#[derive(Clone, Debug)]
pub enum KeyPlace {
    /// A configured file, which is reloaded when it changes.
    File(PathBuf),
    /// A file in the data directory, or in the folder of the configured signing keys. The first start creates it,
    /// because no other keys are configured. It is reloaded when it changes.
    Created(PathBuf),
    /// The configuration itself, in the format of the file.
    Text(SecretString),
}

impl KeySource {
    /// The keys of two configuration keys, or of a file in this folder if neither is set; `None` without a folder.
    pub(super) fn of(
        purpose: KeyPurpose,
        file: Option<TextValue>,
        text: Option<Secret<TextValue<SecretString>>>,
        folder: Option<&Path>,
    ) -> Result<Option<Self>, ConfigError> {
        let place = match (file, text) {
            (Some(_), Some(_)) => {
                let reason = format!("must not be set together with {}", purpose.file_key());
                return Err(ConfigError::new(purpose.text_key(), reason));
            }
            (Some(TextValue(file)), None) => Some(KeyPlace::File(PathBuf::from(file))),
            (None, Some(Secret(TextValue(keys)))) => Some(KeyPlace::Text(keys)),
            (None, None) => folder.map(|folder| KeyPlace::Created(folder.join(purpose.created_file()))),
        };
        Ok(place.map(|place| Self { purpose, place }))
    }

    /// The name of the place in errors.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match (&self.place, self.purpose) {
            (KeyPlace::File(_), purpose) => purpose.file_key(),
            (KeyPlace::Text(_), purpose) => purpose.text_key(),
            (KeyPlace::Created(_), KeyPurpose::Signing) => "the signing keys in the data directory",
            (KeyPlace::Created(_), KeyPurpose::Webhooks) => "the webhook keys that the first start created",
        }
    }

    /// The file with the keys; `None` if they are in no file.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match &self.place {
            KeyPlace::File(path) | KeyPlace::Created(path) => Some(path),
            KeyPlace::Text(_) => None,
        }
    }
}
