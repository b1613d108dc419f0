import { createHmac } from 'node:crypto';
import { isFields } from '@svc/contracts/inference';
import { type Caller, END_USER } from '@svc/contracts/ports';

const CHARACTERS = 22;

/**
 * What stands for an end user in everything that is stored: nobody without the account's key can tell whose
 * it is, and the same name is somebody else in another account. It has 128 bits.
 */
export const endUserId = (userKey: string, name: string): string =>
  `${END_USER}${createHmac('sha256', userKey).update(name).digest('base64url').slice(0, CHARACTERS)}`;

const ID = /^eu_[\w-]{22}$/;

/**
 * The id of an end user that an account's owner names, by its name or by the id that stands for it. A name
 * that looks like an id is found by its id only.
 */
export const namedEndUser = ({ userKey = '' }: Pick<Caller, 'userKey'>, name: string): string =>
  ID.test(name) ? name : endUserId(userKey, name);

/** The name by which a request names its end user, in the header that the operator has set or in its body. */
export function endUserName(header: string | string[] | undefined, body: unknown): string | undefined {
  if (typeof header === 'string' && header !== '') return header;
  if (!isFields(body)) return undefined;
  const { safety_identifier: identifier, user, metadata } = body;
  const named = [identifier, user, isFields(metadata) ? metadata['user_id'] : undefined];
  return named.find((name): name is string => typeof name === 'string' && name !== '');
}
