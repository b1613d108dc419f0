import { addressOfPage } from './navigation.js';

interface BrandProps {
  readonly name: string;
}

/** The mark and the name. */
export const Brand = ({ name }: BrandProps) => (
  <a class="brand" href={addressOfPage('')}>
    <svg width="26" height="26" viewBox="0 0 16 16" aria-hidden="true">
      <rect class="s0" width="16" height="16" rx="4" />
      <path d="M4 11V8m4 3V4m4 7V6" stroke="var(--surface)" stroke-width="2" stroke-linecap="round" />
    </svg>
    {name}
  </a>
);
