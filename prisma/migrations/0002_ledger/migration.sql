CREATE SCHEMA IF NOT EXISTS "ledger";

-- The running balance of each customer. Half-empty pages let updates stay on their page.
CREATE TABLE "ledger"."accounts" (
  "id" UUID NOT NULL,
  "usd_nano" BIGINT NOT NULL DEFAULT 0,
  "diem_nano" BIGINT NOT NULL DEFAULT 0,
  "version" BIGINT NOT NULL DEFAULT 0,
  CONSTRAINT "accounts_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "accounts_usd_not_negative" CHECK ("usd_nano" >= 0),
  CONSTRAINT "accounts_diem_not_negative" CHECK ("diem_nano" >= 0)
) WITH (fillfactor = 50);

CREATE SEQUENCE "ledger"."transfers_id_seq" AS BIGINT;

-- The key begins with the account, so that one index serves the history of an account as well.
CREATE TABLE "ledger"."transfers" (
  "id" BIGINT NOT NULL DEFAULT nextval('"ledger"."transfers_id_seq"'),
  "at" TIMESTAMPTZ(3) NOT NULL,
  "account_id" UUID NOT NULL,
  "kind" TEXT COLLATE "C" NOT NULL,
  "debit_account" TEXT COLLATE "C" NOT NULL,
  "credit_account" TEXT COLLATE "C" NOT NULL,
  "currency" TEXT COLLATE "C" NOT NULL,
  "amount_nano" BIGINT NOT NULL,
  "reference" TEXT COLLATE "C" NOT NULL,
  CONSTRAINT "transfers_pkey" PRIMARY KEY ("account_id", "id", "at"),
  CONSTRAINT "transfers_kind_known" CHECK (
    "kind" IN ('credit', 'charge', 'refund', 'grant', 'expiry', 'deposit', 'write_off')
  ),
  CONSTRAINT "transfers_currency_known" CHECK ("currency" IN ('USD', 'DIEM')),
  CONSTRAINT "transfers_amount_positive" CHECK ("amount_nano" > 0),
  CONSTRAINT "transfers_two_accounts" CHECK ("debit_account" <> "credit_account")
) PARTITION BY RANGE ("at");

ALTER SEQUENCE "ledger"."transfers_id_seq" OWNED BY "ledger"."transfers"."id";

-- One row for each request that was charged. Its time is fixed by the event, so a charge told twice has one key.
CREATE TABLE "ledger"."charges" (
  "request_id" TEXT COLLATE "C" NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "account_id" UUID NOT NULL,
  "key_id" TEXT COLLATE "C" NOT NULL,
  "model" TEXT COLLATE "C" NOT NULL,
  "backend" TEXT COLLATE "C" NOT NULL,
  "prompt_tokens" BIGINT NOT NULL,
  "completion_tokens" BIGINT NOT NULL,
  "cached_tokens" BIGINT NOT NULL,
  "cache_write_tokens" BIGINT NOT NULL,
  "reasoning_tokens" BIGINT NOT NULL,
  "usd_nano" BIGINT NOT NULL,
  "diem_nano" BIGINT NOT NULL,
  "write_off_nano" BIGINT NOT NULL,
  "duration_ms" BIGINT NOT NULL,
  CONSTRAINT "charges_pkey" PRIMARY KEY ("request_id", "at"),
  CONSTRAINT "charges_not_negative" CHECK ("usd_nano" >= 0 AND "diem_nano" >= 0 AND "write_off_nano" >= 0)
) PARTITION BY RANGE ("at");

CREATE TABLE "ledger"."charge_lines" (
  "request_id" TEXT COLLATE "C" NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  "line" INTEGER NOT NULL,
  "sku" TEXT COLLATE "C" NOT NULL,
  "units" BIGINT NOT NULL,
  "price_nano_per_million" BIGINT NOT NULL,
  "amount_nano" BIGINT NOT NULL,
  CONSTRAINT "charge_lines_pkey" PRIMARY KEY ("request_id", "at", "line"),
  CONSTRAINT "charge_lines_not_negative" CHECK ("amount_nano" >= 0)
) PARTITION BY RANGE ("at");

-- What an operator or a schedule caused happens once for each account, kind and reference.
CREATE TABLE "ledger"."transfer_references" (
  "account_id" UUID NOT NULL,
  "kind" TEXT COLLATE "C" NOT NULL,
  "reference" TEXT COLLATE "C" NOT NULL,
  "transfer_id" BIGINT NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "transfer_references_pkey" PRIMARY KEY ("account_id", "kind", "reference")
);

CREATE UNIQUE INDEX "transfer_references_transfer_id_key" ON "ledger"."transfer_references" ("transfer_id");

-- Usage events that can't be posted as they are. Someone has to look at each; the audit names them.
CREATE TABLE "ledger"."rejected_charges" (
  "digest" TEXT COLLATE "C" NOT NULL,
  "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "reason" TEXT NOT NULL,
  "event" TEXT NOT NULL,
  CONSTRAINT "rejected_charges_pkey" PRIMARY KEY ("digest")
);

-- The books are append-only for everyone, superusers included, until someone disables a trigger.
CREATE FUNCTION "ledger"."refuse_change"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%.% is append-only: % refused', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER "transfers_append_only" BEFORE UPDATE OR DELETE ON "ledger"."transfers"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "transfers_no_truncate" BEFORE TRUNCATE ON "ledger"."transfers"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "charges_append_only" BEFORE UPDATE OR DELETE ON "ledger"."charges"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "charges_no_truncate" BEFORE TRUNCATE ON "ledger"."charges"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "charge_lines_append_only" BEFORE UPDATE OR DELETE ON "ledger"."charge_lines"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "charge_lines_no_truncate" BEFORE TRUNCATE ON "ledger"."charge_lines"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "transfer_references_append_only" BEFORE UPDATE OR DELETE ON "ledger"."transfer_references"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "transfer_references_no_truncate" BEFORE TRUNCATE ON "ledger"."transfer_references"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "accounts_no_delete" BEFORE DELETE ON "ledger"."accounts"
  FOR EACH ROW EXECUTE FUNCTION "ledger"."refuse_change"();
CREATE TRIGGER "accounts_no_truncate" BEFORE TRUNCATE ON "ledger"."accounts"
  FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"();

-- Makes the partitions of the month that `at` is in, where they are missing. Tables are attached, since that lets
-- readers and writers of other months go on. Row triggers and indexes come from the parent; truncate triggers do not.
CREATE FUNCTION "ledger"."create_month"("at" TIMESTAMPTZ) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
  first_day TIMESTAMP := date_trunc('month', "at" AT TIME ZONE 'UTC');
  parent TEXT;
  part TEXT;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('ledger.create_month', 0));
  FOREACH parent IN ARRAY ARRAY['transfers', 'charges', 'charge_lines'] LOOP
    part := format('%s_%s', parent, to_char(first_day, 'YYYY_MM'));
    CONTINUE WHEN to_regclass(format('"ledger".%I', part)) IS NOT NULL;
    EXECUTE format(
      'CREATE TABLE "ledger".%I (LIKE "ledger".%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent);
    EXECUTE format(
      'CREATE TRIGGER %I BEFORE TRUNCATE ON "ledger".%I FOR EACH STATEMENT EXECUTE FUNCTION "ledger"."refuse_change"()',
      part || '_no_truncate', part);
    EXECUTE format(
      'ALTER TABLE "ledger".%I ATTACH PARTITION "ledger".%I FOR VALUES FROM (%L) TO (%L)',
      parent, part, first_day::TEXT || '+00', (first_day + INTERVAL '1 month')::TEXT || '+00');
  END LOOP;
END $$;
