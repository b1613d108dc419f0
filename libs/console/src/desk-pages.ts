import type { PageEntry } from './shell/page-entry.js';

/** The pages of the desk in the order of the menu. The code of each is loaded when it is opened. */
export const DESK_PAGES: readonly PageEntry[] = [
  {
    name: '',
    title: 'Accounts',
    load: async () => (await import('./accounts/accounts-page.js')).AccountsPage,
  },
  {
    name: 'requests',
    title: 'Requests',
    load: async () => (await import('./lookup/lookup-page.js')).LookupPage,
  },
  {
    name: 'catalogue',
    title: 'Catalogue',
    load: async () => (await import('./catalogue/catalogue-page.js')).CataloguePage,
  },
  {
    name: 'backends',
    title: 'Backends',
    load: async () => (await import('./backends/backends-page.js')).BackendsPage,
  },
  {
    name: 'books',
    title: 'Books',
    load: async () => (await import('./books/books-page.js')).BooksPage,
  },
  {
    name: 'jobs',
    title: 'Jobs',
    load: async () => (await import('./backends/jobs-page.js')).JobsPage,
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    load: async () => (await import('./notices/notices-page.js')).NoticesPage,
  },
  {
    name: 'actions',
    title: 'Actions',
    load: async () => (await import('./actions/actions-page.js')).ActionsPage,
  },
  {
    name: 'links',
    title: 'Links',
    load: async () => (await import('./actions/links-page.js')).LinksPage,
  },
];
