import type { ComponentChildren } from 'preact';

interface FieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}

/** A control with its label and a hint. */
export const Field = ({ label, hint, children }: FieldProps) => (
  <label class="field">
    <span>{label}</span>
    {children}
    {hint !== undefined && <span class="hint">{hint}</span>}
  </label>
);

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChange: (value: T) => void;
}

/** A list to choose one of. */
export function Select<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <Field label={label}>
      <select
        value={value}
        onChange={(event) => {
          const chosen = options.find(([option]) => option === event.currentTarget.value);
          if (chosen) onChange(chosen[0]);
        }}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A few choices side by side. */
export function Segments<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <fieldset>
      <legend class="sr">{label}</legend>
      <div class="segments">
        {options.map(([option, text]) => (
          <label key={option}>
            <input
              class="sr"
              type="radio"
              name={label}
              checked={option === value}
              onChange={() => onChange(option)}
            />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
