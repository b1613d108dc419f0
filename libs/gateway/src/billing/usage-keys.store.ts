import { Injectable } from '@nestjs/common';
import { PrismaDatabase } from '@svc/storage';

/** The parts of a key by which people recognise it. */
export interface KeyLabel {
  readonly id: string;
  readonly description: string;
  readonly last6: string;
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The labels of used keys, including revoked ones. */
@Injectable()
export class UsageKeysStore {
  constructor(private readonly database: PrismaDatabase) {}

  labels(accountId: string, keyIds: readonly string[]): Promise<KeyLabel[]> {
    return this.database.apiKey.findMany({
      where: { accountId, id: { in: keyIds.filter((id) => UUID.test(id)) } },
      select: { id: true, description: true, last6: true },
    });
  }
}
