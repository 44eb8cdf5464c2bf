DROP INDEX withdrawals_by_status;
