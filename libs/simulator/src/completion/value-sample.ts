import type { Random } from '../random.js';

/** A string in a JSON schema `format`; undefined for an unknown format. */
export function formatted(format: string, random: Random): string | undefined {
  const two = (low: number, high: number): string => String(random.whole(low, high)).padStart(2, '0');
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => random.whole(0, 15).toString(16)).join('');
  const date = (): string => `${random.whole(2020, 2030)}-${two(1, 12)}-${two(1, 28)}`;
  const time = (): string => `${two(0, 23)}:${two(0, 59)}:${two(0, 59)}Z`;
  switch (format) {
    case 'date':
      return date();
    case 'time':
      return time();
    case 'date-time':
      return `${date()}T${time()}`;
    case 'duration':
      return `PT${random.whole(1, 59)}M`;
    case 'email':
    case 'idn-email':
      return `user${random.whole(1, 999)}@example.com`;
    case 'hostname':
    case 'idn-hostname':
      return `host${random.whole(1, 999)}.example.com`;
    case 'uri':
    case 'url':
    case 'iri':
    case 'uri-reference':
      return `https://example.com/${hex(6)}`;
    case 'ipv4':
      return `192.0.2.${random.whole(1, 254)}`;
    case 'ipv6':
      return `2001:db8::${random.whole(1, 9)}`;
    case 'uuid':
      return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
    default:
      return undefined;
  }
}

const VALUES: { readonly [name: string]: string } = {
  city: 'Paris',
  location: 'Paris',
  place: 'Paris',
  country: 'France',
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  url: 'https://example.com/',
  date: '2026-01-15',
  language: 'en',
  currency: 'USD',
};

/**
 * A plausible value for a property of this name; a place in the user's text is preferred. `hint` is in lower
 * case.
 */
export function named(name: string, hint: string): string | undefined {
  const key = name.toLowerCase();
  if (key === 'city' || key === 'location' || key === 'place') {
    const place = /\b(?:in|for|at|of) ([\p{L}][\p{L}-]{2,30})/u.exec(hint)?.[1];
    if (place !== undefined) return place.charAt(0).toUpperCase() + place.slice(1);
  }
  return VALUES[key];
}
