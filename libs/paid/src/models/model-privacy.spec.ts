import type { Caller } from '@svc/contracts/ports';
import { describe, expect, it } from 'vitest';
import { mayUse, refuseAnonymous } from './model-privacy.js';

const CALLER: Caller = {
  accountId: 'a',
  keyId: 'k',
  tier: 'standard',
  paid: false,
  keyType: 'INFERENCE',
  modelPrivacy: 'ALL',
};

describe('the model privacy of a key', () => {
  it.each([
    { setting: 'ALL', type: 'text', privacy: 'anonymized', may: true },
    { setting: 'ALL', type: 'image', privacy: 'anonymized', may: true },
    { setting: 'PRIVATE_TEXT', type: 'text', privacy: 'private', may: true },
    { setting: 'PRIVATE_TEXT', type: 'text', privacy: 'anonymized', may: false },
    { setting: 'PRIVATE_TEXT', type: 'image', privacy: 'anonymized', may: true },
    { setting: 'PRIVATE_ONLY', type: 'text', privacy: 'private', may: true },
    { setting: 'PRIVATE_ONLY', type: 'text', privacy: 'anonymized', may: false },
    { setting: 'PRIVATE_ONLY', type: 'image', privacy: 'anonymized', may: false },
  ] as const)('$setting: a $type model that is $privacy may be used: $may', ({ setting, may, ...model }) => {
    expect(mayUse(setting, model)).toBe(may);
  });

  it('is named in the refusal', () => {
    const model = { id: 'big', type: 'text', privacy: 'anonymized' } as const;
    expect(() => refuseAnonymous(CALLER, model)).not.toThrow();
    expect(() => refuseAnonymous({ ...CALLER, modelPrivacy: 'PRIVATE_TEXT' }, model)).toThrow(
      expect.objectContaining({
        status: 403,
        code: 'UNAUTHORIZED',
        message:
          "This API key is set to 'PRIVATE_TEXT', but `big` is an Anonymous model. Choose a Private, TEE, or E2EE " +
          'model, or change the model privacy setting of this API key.',
      }),
    );
  });
});
