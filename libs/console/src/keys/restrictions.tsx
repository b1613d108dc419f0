import type { ApiKeyView } from '@svc/api/keys';
import { entriesIn, textIn } from '../text/form-text.js';
import { Field } from '../ui/fields.js';

/** What a key may be used for, as the API takes it; null restricts nothing. */
export interface Restrictions {
  readonly allowedModels: string[] | null;
  readonly allowedEndpoints: string[] | null;
  readonly allowedIps: string[] | null;
  readonly canInfer?: boolean;
  readonly disabled: boolean;
}

const LISTS = [
  ['allowedModels', 'Only these models', 'Ids, aliases, traits, or patterns such as llama-*. Empty: all'],
  ['allowedEndpoints', 'Only these endpoints', 'Paths such as /chat/completions or /images/*. Empty: all'],
  ['allowedIps', 'Only from these addresses', 'IP addresses and networks such as 192.0.2.0/24. Empty: any'],
] as const;

export const restrictionsOf = (data: FormData, isAdmin: boolean): Restrictions => ({
  allowedModels: entriesIn(textIn(data, 'allowedModels')),
  allowedEndpoints: entriesIn(textIn(data, 'allowedEndpoints')),
  allowedIps: entriesIn(textIn(data, 'allowedIps')),
  ...(isAdmin && { canInfer: data.get('managesOnly') === null }),
  disabled: data.get('disabled') !== null,
});

/** What restricts a key, in a few words each. */
export function restrictionTexts(key: ApiKeyView): string[] {
  const lists = [
    ['model', key.allowedModels],
    ['endpoint', key.allowedEndpoints],
    ['address', key.allowedIps],
  ] as const;
  const texts = lists.flatMap(([what, entries]) => {
    if (!entries) return [];
    const [only = ''] = entries;
    const plural = what === 'address' ? 'addresses' : `${what}s`;
    return [entries.length === 1 ? only : `${entries.length} ${plural}`];
  });
  return key.canInfer === false ? [...texts, 'only manages keys'] : texts;
}

interface CheckProps {
  readonly name: string;
  readonly label: string;
  readonly isChecked: boolean;
}

const Check = ({ name, label, isChecked }: CheckProps) => (
  <label class="row">
    <input type="checkbox" name={name} defaultChecked={isChecked} />
    {label}
  </label>
);

interface RestrictionFieldsProps {
  readonly current: ApiKeyView | undefined;
  readonly isAdmin: boolean;
}

/** The fields for what a key may be used for, closed unless it is restricted. */
export function RestrictionFields({ current, isAdmin }: RestrictionFieldsProps) {
  const isRestricted = current !== undefined && (restrictionTexts(current).length > 0 || current.disabled);
  return (
    <details open={isRestricted}>
      <summary>Restrictions</summary>
      <div class="stack">
        {LISTS.map(([name, label, hint]) => (
          <Field key={name} label={label} hint={hint}>
            <textarea
              name={name}
              rows={2}
              spellcheck={false}
              defaultValue={current?.[name]?.join('\n') ?? ''}
            />
          </Field>
        ))}
        {isAdmin && (
          <Check
            name="managesOnly"
            label="Only manages keys and reads usage"
            isChecked={current?.canInfer === false}
          />
        )}
        <Check name="disabled" label="Disabled until you enable it" isChecked={current?.disabled === true} />
      </div>
    </details>
  );
}
