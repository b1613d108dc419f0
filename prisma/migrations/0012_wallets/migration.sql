-- Nonces of sign-ins that were let in: a nonce counts once for its wallet.
CREATE TABLE "gateway"."sign_in_nonces" (
    "wallet" TEXT COLLATE "C" NOT NULL,
    "nonce" TEXT COLLATE "C" NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sign_in_nonces_pkey" PRIMARY KEY ("wallet", "nonce")
);

CREATE INDEX "sign_in_nonces_expires_at_idx" ON "gateway"."sign_in_nonces" ("expires_at");
