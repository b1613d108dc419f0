/** Hosts whose pages, and those of their subdomains, are not read. */
export class BlockedHosts {
  private readonly names: ReadonlySet<string>;

  /** @param list Host names, separated by commas. */
  constructor(list: string) {
    this.names = new Set(list.split(',').filter((name) => name !== ''));
  }

  /** The list entry that blocks a host, if any. */
  blocking({ hostname }: URL): string | undefined {
    const labels = hostname.replace(/\.$/, '').split('.');
    return labels.map((_, index) => labels.slice(index).join('.')).find((name) => this.names.has(name));
  }
}
