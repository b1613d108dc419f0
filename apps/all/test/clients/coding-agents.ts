import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform, TestAccount } from '../platform.js';
import type { Installed, Output, RunOptions } from './environments.js';

export const RUN_MS = 120_000;

/** Unmodified coding agents, with a home of their own, as clients of one account. */
export class CodingAgents {
  private constructor(
    private readonly commandLines: Installed,
    /** A folder with one for their work in it. */
    readonly home: string,
    private readonly given: { readonly platform: Platform; readonly account: TestAccount },
  ) {}

  static async open(
    commandLines: Installed,
    platform: Platform,
    account: TestAccount,
  ): Promise<CodingAgents> {
    const home = await mkdtemp(join(tmpdir(), 'svc-agents-'));
    await mkdir(join(home, 'codex'));
    await mkdir(join(home, 'work'));
    const config = `
model_provider = "svc"
web_search = "disabled"

[model_providers.svc]
name = "svc"
base_url = "${platform.apiUrl}"
env_key = "SVC_API_KEY"
wire_api = "responses"
`;
    await writeFile(join(home, 'codex', 'config.toml'), config);
    return new CodingAgents(commandLines, home, { platform, account });
  }

  /** Gives Codex CLI a task. */
  codex(model: string, task: string): Promise<Output> {
    const args = ['exec', '--skip-git-repo-check', '--sandbox', 'read-only', '--model', model, task];
    return this.run('codex', args, {
      CODEX_HOME: join(this.home, 'codex'),
      SVC_API_KEY: this.given.account.apiKey,
    });
  }

  /** Gives Claude Code a task. */
  claude(model: string, task: string): Promise<Output> {
    return this.run('claude', ['-p', task, '--model', model], {
      ANTHROPIC_BASE_URL: `${this.given.platform.rootUrl}/api`,
      ANTHROPIC_API_KEY: this.given.account.apiKey,
      CLAUDE_CONFIG_DIR: join(this.home, 'claude'),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    });
  }

  close(): Promise<void> {
    return rm(this.home, { recursive: true, force: true });
  }

  /** Runs another agent. */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Output> {
    return this.commandLines.run(program, args, this.optionsWith(env));
  }

  optionsWith(env: Readonly<Record<string, string>>): RunOptions {
    return { cwd: join(this.home, 'work'), env: { HOME: this.home, ...env }, deadlineMs: RUN_MS };
  }
}
