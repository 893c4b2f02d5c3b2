import { linkSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Wire } from './wire.fixture.js';

/** The line between an agent's host and its guest: a socket of ours stands where the guest's is. */
export class GuestLine {
  #wire: Wire | undefined;
  #inode: bigint | undefined;
  #opened = 0;

  /** `folder` holds `guest.sock`. */
  constructor(private readonly folder: string) {}

  /** The line to the guest that listens now. Throws when none does. */
  async open(): Promise<Wire> {
    if (this.#wire !== undefined && this.#inode === this.#inodeOf(SOCKET)) return this.#wire;
    const nth = String(++this.#opened);
    const [real, ours] = [`${OURS}real-${nth}`, `${OURS}line-${nth}`];
    this.#tidy();
    // The guest may listen anew at any moment: what stands there is given a second name, then replaced in one go.
    linkSync(this.#path(SOCKET), this.#path(real));
    const wire = await Wire.open({ path: this.#path(real) }, this.#path(ours));
    this.#inode = this.#inodeOf(ours);
    renameSync(this.#path(ours), this.#path(SOCKET));
    void this.#wire?.close();
    this.#wire = wire;
    return wire;
  }

  /** For so long nothing listens there. */
  async hide(forMs: number): Promise<void> {
    // A guest that has ended meanwhile has taken it away itself.
    if (this.#inodeOf(SOCKET) === undefined) return;
    renameSync(this.#path(SOCKET), this.#path(HIDDEN));
    await new Promise((resolve) => setTimeout(resolve, forMs));
    // A guest that was started meanwhile stays, and the folder it found was emptied.
    if (this.#inodeOf(SOCKET) !== undefined || this.#inodeOf(HIDDEN) === undefined) return;
    renameSync(this.#path(HIDDEN), this.#path(SOCKET));
  }

  async close(): Promise<void> {
    await this.#wire?.close();
  }

  #tidy(): void {
    for (const name of readdirSync(this.folder))
      if (name.startsWith(OURS)) rmSync(this.#path(name), { force: true });
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  #inodeOf(name: string): bigint | undefined {
    return lstatSync(this.#path(name), { bigint: true, throwIfNoEntry: false })?.ino;
  }
}

const SOCKET = 'guest.sock';
/** What the names of our own begin with. */
const OURS = 'line-';
const HIDDEN = `${OURS}hidden`;
