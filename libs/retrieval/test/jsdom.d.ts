// The used part; its own types would bring those of a browser into every file.
declare module 'jsdom' {
  export class JSDOM {
    constructor(html: string, options: { readonly url: string });
    readonly window: { readonly document: object; close(): void };
  }
}

declare module '@mozilla/readability' {
  export class Readability {
    constructor(document: object);
    parse(): { readonly textContent?: string | null } | null;
  }
}
