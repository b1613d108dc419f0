// Speed is worthless without correct charges: every completion must be charged, once.
import { prove } from './gateways/gateways.mjs';

/** Requests sent one by one, without load, so that each completion can be counted. */
const EXACT_ANSWERS = 200;

/** Compares the completions with the service's ledger. */
export class Books {
  #load = { answers: 0, cutOff: 0 };

  constructor(operator) {
    this.operator = operator;
  }

  static async open({ operator }) {
    const books = new Books(operator);
    books.start = (await operator.audit()).charges;
    return books;
  }

  /** A load has ended. Each of its connections may have had an unread response in progress. */
  loadEnded(answers, connections) {
    this.#load.answers += answers;
    this.#load.cutOff += connections;
  }

  /** After all load: every completion has its charge, and only cut-off ones may have one more. */
  async closeLoad() {
    const { answers, cutOff } = this.#load;
    const audit = await this.operator.auditAfter(this.start + answers);
    this.afterLoad = audit.charges;
    const charges = audit.charges - this.start;
    this.load = { charges, answers, cutOff, ok: charges >= answers && charges <= answers + cutOff };
  }

  /** After `closeLoad`: as many charges as completions, if every response was read to its end. */
  async closeExact(gateway, streamed) {
    for (let sent = 0; sent < EXACT_ANSWERS; sent += 1) await prove(gateway);
    const answers = streamed + EXACT_ANSWERS;
    const audit = await this.operator.auditAfter(this.afterLoad + answers);
    const charges = audit.charges - this.afterLoad;
    const exact = { charges, answers, ok: charges === answers };
    return { audit, load: this.load, exact, ok: audit.ok && this.load.ok && exact.ok };
  }
}
