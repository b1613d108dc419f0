import type { Caller, ModelPrivacy } from '@svc/contracts/ports';
import type { CatalogEntry } from '@svc/contracts/catalog';
import { Problem } from '@svc/contracts/problems';

/** Whether a key with this setting may use a model. */
export function mayUse(
  setting: ModelPrivacy,
  { type, privacy }: Pick<CatalogEntry, 'type' | 'privacy'>,
): boolean {
  switch (setting) {
    case 'ALL':
      return true;
    case 'PRIVATE_TEXT':
      return privacy === 'private' || type !== 'text';
    case 'PRIVATE_ONLY':
      return privacy === 'private';
  }
}

/** Refuses: UNAUTHORIZED, if the caller's key may not use the model. */
export function refuseAnonymous(
  { modelPrivacy }: Caller,
  model: Pick<CatalogEntry, 'id' | 'type' | 'privacy'>,
): void {
  if (mayUse(modelPrivacy, model)) return;
  throw new Problem('UNAUTHORIZED', {
    message: `This API key is set to '${modelPrivacy}', but \`${model.id}\` is an Anonymous model. Choose a Private, TEE, or E2EE model, or change the model privacy setting of this API key.`,
    param: 'model',
  });
}
