-- Whether the code that was sent to an e-mail address is still to be confirmed.
ALTER TABLE "gateway"."webhook_endpoints" ADD COLUMN "unconfirmed" BOOLEAN NOT NULL DEFAULT false;

-- The mails with codes of the last day, which are bounded.
CREATE TABLE "gateway"."confirmation_mails" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "mailbox_sha256" BYTEA NOT NULL,
    "sent_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "confirmation_mails_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "confirmation_mails_sent_at_idx" ON "gateway"."confirmation_mails" ("sent_at");
