//! The page of a payment, and the payment page of the sandbox.
