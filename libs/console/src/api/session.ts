import { computed, signal } from '@preact/signals';
import { call } from './client.js';
import { CallError } from './call-error.js';
import type { ReplyAt } from './routes.js';

export type OpenSession = ReplyAt<'POST', '/console/api/session'>['data'];

/** The session of this browser: `undefined` while unknown, `null` if nobody is signed in. */
export const session = signal<OpenSession | null | undefined>(undefined);

/** Whether the session may read and change the whole account. */
export const isAdmin = computed(() => session.value?.kind !== 'inference' && session.value !== null);

type SignIn = NonNullable<Parameters<typeof call<'POST', '/console/api/session'>>[2]>['body'];

export async function loadSession(): Promise<void> {
  try {
    session.value = (await call('GET', '/console/api/session')).data;
  } catch (error) {
    if (!(error instanceof CallError) || error.status !== 401) throw error;
    session.value = null;
  }
}

export async function signIn(proof: NonNullable<SignIn>): Promise<void> {
  session.value = (await call('POST', '/console/api/session', { body: proof })).data;
}

/** Proves again who this is, which changes of what a key may do require after some minutes. */
export async function proveAgain(proof: NonNullable<SignIn>): Promise<void> {
  session.value = (await call('POST', '/console/api/session/proof', { body: proof })).data;
}

export async function signOut(): Promise<void> {
  await call('DELETE', '/console/api/session').catch(() => undefined);
  session.value = null;
}
