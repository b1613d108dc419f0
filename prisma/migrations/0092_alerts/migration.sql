-- What accounts want to be notified of. The transaction that posts what an alert is for adds its event.
CREATE TABLE "ledger"."alerts" (
    "id" BIGSERIAL NOT NULL,
    "account_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "key_id" TEXT,
    "period" TEXT,
    "currency" TEXT NOT NULL,
    "amount_nano" BIGINT NOT NULL,
    "is_armed" BOOLEAN NOT NULL DEFAULT true,
    "notified_for" DATE,

    CONSTRAINT "alerts_pkey" PRIMARY KEY ("account_id", "id"),
    CONSTRAINT "alerts_type_check" CHECK ("type" IN ('balance.low', 'key.spend_threshold')),
    CONSTRAINT "alerts_period_check" CHECK ("period" IN ('EPOCH', 'WEEK', 'MONTH', 'LIFETIME')),
    CONSTRAINT "alerts_currency_check" CHECK ("currency" IN ('USD', 'DIEM')),
    CONSTRAINT "alerts_amount_nano_check" CHECK ("amount_nano" > 0)
);
