-- Who revoked a key: an operator or a customer. Unknown for keys that earlier releases revoked.
ALTER TABLE "gateway"."api_keys" ADD COLUMN "revoked_by" TEXT;
