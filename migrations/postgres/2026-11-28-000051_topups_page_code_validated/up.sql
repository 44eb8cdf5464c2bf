ALTER TABLE topups VALIDATE CONSTRAINT topups_page_code_check;
