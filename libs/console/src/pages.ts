import type { PageEntry } from './shell/page-entry.js';

interface ConsolePage extends PageEntry {
  /** Whether a key that is not an ADMIN key may open it. */
  readonly isForAll: boolean;
}

/** The pages in the order of the menu. The code of each is loaded when it is opened. */
export const PAGES: readonly ConsolePage[] = [
  {
    name: '',
    title: 'Overview',
    isForAll: true,
    load: async () => (await import('./overview/overview-page.js')).OverviewPage,
  },
  {
    name: 'playground',
    title: 'Playground',
    isForAll: true,
    load: async () => (await import('./playground/playground-page.js')).PlaygroundPage,
  },
  {
    name: 'keys',
    title: 'Keys',
    isForAll: false,
    load: async () => (await import('./keys/keys-page.js')).KeysPage,
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    isForAll: false,
    load: async () => (await import('./webhooks/webhooks-page.js')).WebhooksPage,
  },
  {
    name: 'usage',
    title: 'Usage',
    isForAll: true,
    load: async () => (await import('./usage/usage-page.js')).UsagePage,
  },
  {
    name: 'users',
    title: 'Users',
    isForAll: false,
    load: async () => (await import('./end-users/end-users-page.js')).EndUsersPage,
  },
  {
    name: 'requests',
    title: 'Requests',
    isForAll: true,
    load: async () => (await import('./requests/requests-page.js')).RequestsPage,
  },
  {
    name: 'limits',
    title: 'Limits',
    isForAll: true,
    load: async () => (await import('./limits/limits-page.js')).LimitsPage,
  },
  {
    name: 'models',
    title: 'Models',
    isForAll: true,
    load: async () => (await import('./models/models-page.js')).ModelsPage,
  },
  {
    name: 'media',
    title: 'Media',
    isForAll: true,
    load: async () => (await import('./media/media-page.js')).MediaPage,
  },
  {
    name: 'credit',
    title: 'Credit',
    isForAll: true,
    load: async () => (await import('./credit/credit-page.js')).CreditPage,
  },
  {
    name: 'sessions',
    title: 'Sessions',
    isForAll: true,
    load: async () => (await import('./sessions/sessions-page.js')).SessionsPage,
  },
];
