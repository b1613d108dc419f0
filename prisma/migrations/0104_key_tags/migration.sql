-- By which its owner tells the usage of keys apart.
ALTER TABLE "gateway"."api_keys" ADD COLUMN "tags" TEXT[] NOT NULL DEFAULT '{}';
