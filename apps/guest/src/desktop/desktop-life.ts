import { detach } from '@berth/kernel';
import { howItEnded } from '../workload/how-it-ended.js';
import type { Life } from '../workload/workload.js';
import { openDesktop, type Desktop } from './desktop.js';
import type { DesktopSession } from './session/desktop-session.js';

/** A desktop that serves. */
export interface ServingDesktop {
  readonly session: DesktopSession;
  readonly desktop: Desktop;
}

/** One start of a desktop, whose X server has started. It is over when the X server is, or the guest has lost it. */
export class DesktopLife implements Life<ServingDesktop> {
  readonly exited: Promise<void>;
  readonly ended: Promise<string>;
  readonly #lost = Promise.withResolvers<void>();
  #desktop: Desktop | undefined;
  #isEnding = false;
  #wasKilled = false;

  constructor(private readonly session: DesktopSession) {
    this.exited = Promise.race([session.exited, this.#lost.promise]).then(() => undefined);
    this.ended = this.#afterExit();
  }

  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  async serving(signal: AbortSignal): Promise<ServingDesktop | undefined> {
    const { session } = this;
    const gone = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => gone.resolve(undefined));
    const opened = this.#open().catch(() => undefined);
    const desktop = await Promise.race([opened, gone.promise]);
    return desktop && { session, desktop };
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.session.stop();
    await this.ended;
  }

  async #open(): Promise<Desktop> {
    const desktop = await openDesktop(this.session.display);
    this.#desktop = desktop;
    // Without its connection a desktop is of no use, also if the X server lives on.
    detach(desktop.lost.then(() => this.#lost.resolve()));
    await desktop.paintWallpaper();
    await desktop.untilManaged();
    return desktop;
  }

  async #afterExit(): Promise<string> {
    await this.exited;
    // The connection is lost a moment before the process is gone.
    const { code, signal } = await this.#exitOrStop();
    this.#wasKilled = !this.#isEnding && signal === 'SIGKILL';
    this.#desktop?.close();
    await this.session.stop();
    return howItEnded(code, signal);
  }

  async #exitOrStop(): Promise<Awaited<DesktopSession['exited']>> {
    const late = setTimeout(() => {
      this.#isEnding = true;
      detach(this.session.stop());
    }, EXIT_MS);
    try {
      return await this.session.exited;
    } finally {
      clearTimeout(late);
    }
  }
}

/** How long after its connections an X server lives that is ending. */
const EXIT_MS = 1_000;
