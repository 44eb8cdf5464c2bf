//! The start page, and the pages of logins and registrations.
