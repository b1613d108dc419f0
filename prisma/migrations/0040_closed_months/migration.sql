-- A month whose charges are exported and replaced by one for each account, day, key and model. The totals and the hashes
-- are those of the exported rows.
CREATE TABLE "ledger"."closed_months" (
  "month" DATE NOT NULL,
  "closed_at" TIMESTAMPTZ(3) NOT NULL,
  "charges" BIGINT NOT NULL,
  "charge_lines" BIGINT NOT NULL,
  "transfers" BIGINT NOT NULL,
  -- What the charges took from customers, and what of them was written off.
  "usd_nano" DECIMAL(38, 0) NOT NULL,
  "diem_nano" DECIMAL(38, 0) NOT NULL,
  "write_off_nano" DECIMAL(38, 0) NOT NULL,
  -- SHA-256 of each CSV file, before it is compressed.
  "charges_sha256" BYTEA NOT NULL,
  "charge_lines_sha256" BYTEA NOT NULL,
  "transfers_sha256" BYTEA NOT NULL,
  CONSTRAINT "closed_months_pkey" PRIMARY KEY ("month")
);
CREATE TRIGGER "closed_months_append_only" BEFORE UPDATE OR DELETE ON "ledger"."closed_months"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "closed_months_no_truncate" BEFORE TRUNCATE ON "ledger"."closed_months"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();

-- Refuses rows of a month that is being closed, or is closed: a copy of a charge would no longer be recognised. Posting
-- stores such a charge as rejected, whichever release posts it.
CREATE FUNCTION "ledger"."refuse_late"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the month % is closed', to_char(NEW."at" AT TIME ZONE 'UTC', 'YYYY-MM')
    USING ERRCODE = 'restrict_violation';
END $$;
