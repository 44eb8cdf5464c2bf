//! The wallet: balances, statement, top-ups, withdrawals and tips.
