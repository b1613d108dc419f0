import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { VOICE_DAYS } from '@svc/api/audio';
import { Problem } from '@svc/contracts/problems';
import { Database } from '@svc/storage';

/** The most voices of an account. */
const VOICES_MOST = 20;

/** A sample of a voice. */
export interface VoiceSample {
  readonly accountId: string;
  /** The model that speaks in the voice. */
  readonly model: string;
  /** The media type of the sample. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** What is said in it, if that is known. */
  readonly text: string | undefined;
}

/** How the ids of cloned voices begin. Source: the public interface. */
export const VOICE_PREFIX = 'vv_';

/** The voices that accounts have cloned. */
@Injectable()
export class VoiceStore {
  constructor(private readonly database: Database) {}

  /** Returns the id of the voice. Refuses: MEDIA_STORAGE_FULL, UNAVAILABLE. */
  async insert({ accountId, model, type, bytes, text }: VoiceSample): Promise<string> {
    const id = `${VOICE_PREFIX}${randomUUID().replaceAll('-', '')}`;
    const isStored = await reached(
      this.database.transaction(async (client) => {
        // Those of an account are counted one after the other.
        await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`voices ${accountId}`]);
        const { rowCount } = await client.query(
          `INSERT INTO gateway.voices (id, account_id, model, type, sample, text, expires_at)
           SELECT $1, $2, $3, $4, $5, $6, now() + ${VOICE_DAYS} * interval '1 day'
           WHERE (
             SELECT count(*) FROM gateway.voices WHERE account_id = $2 AND expires_at > now()
           ) < ${VOICES_MOST}`,
          [id, accountId, model, type, bytes, text ?? null],
        );
        return rowCount === 1;
      }),
    );
    if (isStored) return id;
    const message = `This account has ${VOICES_MOST} cloned voices. Please wait until one has expired.`;
    throw new Problem('MEDIA_STORAGE_FULL', { message });
  }

  /** Undefined if the account has no such voice of the model. Refuses: UNAVAILABLE. */
  async find(
    id: string,
    { accountId, model }: Pick<VoiceSample, 'accountId' | 'model'>,
  ): Promise<VoiceSample | undefined> {
    const [row] = await reached(
      this.database.query<{ type: string; sample: Buffer; text: string | null }>(
        `SELECT type, sample, text FROM gateway.voices
         WHERE id = $1 AND account_id = $2 AND model = $3 AND expires_at > now()`,
        [id, accountId, model],
      ),
    );
    return row && { accountId, model, type: row.type, bytes: row.sample, text: row.text ?? undefined };
  }
}

async function reached<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}
