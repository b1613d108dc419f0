import { signal } from '@preact/signals';
import { Select } from '../ui/fields.js';

const THEMES = [
  ['', 'As the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;
type Theme = (typeof THEMES)[number][0];

const STORED = 'svc-console-theme';
const storedName = localStorage.getItem(STORED);
const theme = signal<Theme>(THEMES.find(([name]) => name === storedName)?.[0] ?? '');

function apply(name: Theme): void {
  theme.value = name;
  if (name === '') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = name;
}
apply(theme.value);

export const ThemeChoice = () => (
  <Select
    label="Colours"
    value={theme.value}
    options={THEMES}
    onChange={(name) => {
      localStorage.setItem(STORED, name);
      apply(name);
    }}
  />
);
