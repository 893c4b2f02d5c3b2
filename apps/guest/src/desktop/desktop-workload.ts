import { join } from 'node:path';
import type { Size } from '@berth/contracts/computers/plan';
import type { ProgramState, PutProgram } from '@berth/guest-protocol';
import { imageEnv } from '../program/program-env.js';
import { Supervisor, type SupervisorReports } from '../workload/supervisor.js';
import type { Workload, WorkloadServices } from '../workload/workload.js';
import { actionsRoute } from './batches/actions.route.js';
import { Batches } from './batches/batches.js';
import { DesktopLife, type ServingDesktop } from './desktop-life.js';
import { screenshotRoute } from './screen/screenshot.route.js';
import { DesktopSession } from './session/desktop-session.js';
import { viewerRoutes } from './vnc/viewer.routes.js';
import { Viewers } from './vnc/viewers.js';
import type { VncServer } from './vnc/vnc-server.js';

/** Below the folder for temporary files. */
const RUNTIME_FOLDER = '.berth-desktop';

/** Dependencies of a desktop. */
export interface DesktopMeans extends SupervisorReports {
  /** Inherited by every process of the desktop. */
  readonly mark: Readonly<Record<string, string>>;
}

/** The desktop of a computer: its programs, and those who act on it and look at it. */
export class DesktopWorkload implements Workload {
  readonly services: WorkloadServices;
  readonly #supervisor: Supervisor<ServingDesktop>;
  readonly #base: Readonly<Record<string, string>>;
  #session: DesktopSession | undefined;
  #env: Readonly<Record<string, string>>;

  constructor(
    private readonly program: PutProgram,
    size: Size,
    means: DesktopMeans,
  ) {
    this.#base = {
      ...imageEnv(program.imageEnv ?? {}),
      TMPDIR: program.tmp,
      ...program.env,
      ...means.mark,
    };
    this.#env = this.#base;
    const source = {
      name: "The computer's desktop",
      readiness: { does: 'start', did: 'had started' },
      begin: async (signal: AbortSignal) => new DesktopLife(await this.#start(size, signal)),
    };
    this.#supervisor = new Supervisor(source, program, means);
    this.services = this.#serve(size);
  }

  get state(): ProgramState {
    return this.#supervisor.state;
  }

  /** Of a desktop that is starting again, that of the one before. */
  get env(): Readonly<Record<string, string>> {
    const session = this.#supervisor.served?.session;
    if (session !== undefined && session !== this.#session) {
      this.#session = session;
      this.#env = session.env;
    }
    return this.#env;
  }

  ready(): Promise<void> {
    return this.#supervisor.ready();
  }

  /** A desktop serves no HTTP. */
  endpoint(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async stop(graceMs: number): Promise<void> {
    await this.services.quiesce();
    await this.#supervisor.stop(graceMs);
  }

  #start(size: Size, signal: AbortSignal): Promise<DesktopSession> {
    const { volume, tmp, path, runAs } = this.program;
    const place = { ...size, home: volume, runtime: join(tmp, RUNTIME_FOLDER), path, runAs, env: this.#base };
    return DesktopSession.start(place, signal);
  }

  #serve(size: Size): WorkloadServices {
    const served = (withinMs: number) => this.#supervisor.whenServing(withinMs);
    const findDesktop = async (withinMs: number) => (await served(withinMs))?.desktop;
    const batches = new Batches(findDesktop);
    const findVncServer = async (withinMs: number): Promise<VncServer | undefined> => {
      const found = await served(withinMs);
      if (found === undefined) return undefined;
      const { vncSocket, vncPasswords } = found.session;
      return { vncSocket, vncPasswords, pressedAt: () => found.desktop.pointer.pressedAt() };
    };
    const viewers = new Viewers(findVncServer, {
      onTakeOver: () => batches.takeOver(),
      onGiveBack: () => batches.giveBack(),
    });
    return {
      routes: [actionsRoute(batches), screenshotRoute(findDesktop, size), ...viewerRoutes(viewers)],
      quiesce: async () => {
        await Promise.all([viewers.quiesce(), batches.quiesce()]);
      },
      resume: () => {
        viewers.resume();
        batches.resume();
      },
    };
  }
}
