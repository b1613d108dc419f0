/** Maximum number of items listed; there may be more. */
const LISTED = 100;

/** Collects an audit's findings. */
export class AuditFindings {
  readonly mismatches: string[] = [];
  readonly unclaimed: string[] = [];
  unclaimedCount = 0;
  unclaimedUnits = 0n;
  creditedUnits = 0n;
  onChainUnits = 0n;
  booksNano = 0n;
  payments = 0;
  transfers = 0;

  wrong(sentence: string): void {
    if (this.mismatches.length < LISTED) this.mismatches.push(sentence);
  }

  unclaimedTransfer(units: bigint, sentence: string): void {
    this.unclaimedCount += 1;
    this.unclaimedUnits += units;
    if (this.unclaimed.length < LISTED) this.unclaimed.push(sentence);
  }
}
