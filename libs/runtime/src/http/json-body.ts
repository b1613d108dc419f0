import { Problem, invalidRequest } from '@svc/contracts';
import type { FastifyRequest } from 'fastify';
import { JsonBounds, type JsonLimits } from './json-bounds.js';

/**
 * Deeper than any schema of a tool and far from where a recursion runs out of stack; more members than a conversation
 * of five thousand messages in parts has.
 */
const LIMITS: JsonLimits = { levels: 500, members: 40_000 };

const TOO_MUCH = {
  levels: `Too deep: expected at most ${LIMITS.levels} levels`,
  members: `Too big: expected at most ${LIMITS.members} members in all`,
};

/** Reads the JSON of a body, and keeps its text. Refuses: INVALID_JSON, INVALID_REQUEST. */
export function readJson(
  request: FastifyRequest,
  body: Buffer,
  done: (error: Error | null, value?: unknown) => void,
): void {
  // Who deletes often names the type of a body that is not there.
  if (body.length === 0 && request.method === 'DELETE') {
    done(null);
    return;
  }
  const exceeded = new JsonBounds(LIMITS).exceededBy(body);
  if (exceeded) {
    done(invalidRequest([{ code: 'too_big', path: [], message: TOO_MUCH[exceeded] }]));
    return;
  }
  try {
    request.bodyText = body.toString();
    done(null, JSON.parse(request.bodyText));
  } catch (error) {
    done(new Problem('INVALID_JSON', { cause: error }));
  }
}
