import { isObject } from './answers.js';
import { jsonBody, optionalJsonBody } from './body.js';
import { commandCall, type CommandOptions, type CommandResult } from './commands.js';
import type {
  ActionOptions,
  ActionResults,
  Computer,
  ComputerAction,
  ComputerUsageQuery,
  ComputerUsageReport,
  CreateComputerBody,
  ListComputers,
  ViewerBody,
  ScreenshotOptions,
  OpenedViewer,
  ViewerSession,
} from './computer-types.js';
import type { CallOptions } from './config.js';
import { Download } from './download.js';
import { fileBody, type UploadFile } from './file-body.js';
import { ANY, UPLOAD_MS } from './files.js';
import type { PagePromise } from './page.js';
import { Resource } from './resource.js';
import type { FileList, UploadedFile } from './types.js';
import { pathMember, route, type FilePath, type Query } from './values.js';

/** Milliseconds: actions may take 600 s. */
const ACTIONS_MS = 700_000;

/** `berth.computers`: desktops that your own model drives. Keys need the scope `computers`. */
export class Computers extends Resource {
  /** Creates a computer, or returns the one that the end user has: `POST /api/v1/computers`. */
  async create(computer: CreateComputerBody = {}, options?: CallOptions): Promise<Computer> {
    const body = jsonBody(computer);
    return this.transport.object({ method: 'POST', path: '/api/v1/computers', body }, options);
  }

  /** Lists computers: `GET /api/v1/computers`. */
  list(query: ListComputers = {}, options?: CallOptions): PagePromise<Computer> {
    return this.pages(() => '/api/v1/computers', options, query);
  }

  /** Usage and cost of each computer: `GET /api/v1/computers/usage`. */
  async usage(query?: ComputerUsageQuery, options?: CallOptions): Promise<ComputerUsageReport> {
    return this.read('/api/v1/computers/usage', options, query);
  }

  /** Returns a computer: `GET /api/v1/computers/{id}`. Wakes nobody. */
  async get(id: string, options?: CallOptions): Promise<Computer> {
    return this.read(route`/api/v1/computers/${id}`, options);
  }

  /** Deletes a computer with its files: `DELETE /api/v1/computers/{id}`. */
  async delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.nothing({ method: 'DELETE', path: route`/api/v1/computers/${id}` }, options);
  }

  /** Wakes a computer. Returns it once it is `running`, or after 60 s as it then is. */
  async wake(id: string, options?: CallOptions): Promise<Computer> {
    return this.transport.object({ method: 'POST', path: route`/api/v1/computers/${id}/wake` }, options);
  }

  /** Puts a computer to sleep; actions under way end, and viewers close. Returns it once it is `sleeping`. */
  async sleep(id: string, options?: CallOptions): Promise<Computer> {
    return this.transport.object({ method: 'POST', path: route`/api/v1/computers/${id}/sleep` }, options);
  }

  /** Lists the living sessions of viewers: `GET /api/v1/computers/{id}/sessions`. */
  sessions(id: string, options?: CallOptions): PagePromise<ViewerSession> {
    return this.pages(() => route`/api/v1/computers/${id}/sessions`, options);
  }

  /**
   * Moves the mouse, types, and so on: `POST /api/v1/computers/{id}/actions`. Takes one action or up to 100. May take
   * 700 s by default, and is repeated only after 429.
   */
  async actions(
    id: string,
    actions: ComputerAction | readonly ComputerAction[],
    how: ActionOptions = {},
    options?: CallOptions,
  ): Promise<ActionResults> {
    if (!Array.isArray(actions) && !isObject(actions))
      throw new TypeError('Actions must be an object or a list of objects.');
    return this.transport.object(
      {
        method: 'POST',
        path: route`/api/v1/computers/${id}/actions`,
        body: jsonBody({ actions: Array.isArray(actions) ? actions : [actions], ...how }),
        repeat: 'busy',
        leastTimeout: ACTIONS_MS,
      },
      options,
    );
  }

  /** The bytes of an image of the screen: `GET /api/v1/computers/{id}/screenshot`. */
  async screenshot(id: string, how: ScreenshotOptions = {}, options?: CallOptions): Promise<Uint8Array> {
    const path = route`/api/v1/computers/${id}/screenshot`;
    const query: Query = { ...how };
    return this.transport.bytes({ method: 'GET', path, query, headers: { accept: 'image/*' } }, options);
  }

  /** Runs a command as the user of the desktop, and returns its result: `POST /api/v1/computers/{id}/exec`. */
  async exec(
    id: string,
    command: string | readonly string[],
    how?: CommandOptions,
    options?: CallOptions,
  ): Promise<CommandResult> {
    return this.transport.object(commandCall(route`/api/v1/computers/${id}/exec`, command, how), options);
  }

  /** Downloads a file of up to 100 MB: `GET /api/v1/computers/{id}/files`. Returns once the headers are there. */
  async download(id: string, path: FilePath, options?: CallOptions): Promise<Download> {
    const query = pathMember(path);
    const call = { method: 'GET', path: route`/api/v1/computers/${id}/files`, query, headers: ANY };
    return new Download(await this.transport.open(call, options));
  }

  /** Writes a file of up to 100 MB: `PUT /api/v1/computers/{id}/files`. May take an hour by default. */
  async upload(id: string, path: FilePath, file: UploadFile, options?: CallOptions): Promise<UploadedFile> {
    return this.transport.object(
      {
        method: 'PUT',
        path: route`/api/v1/computers/${id}/files`,
        query: pathMember(path),
        body: fileBody(file),
        leastTimeout: UPLOAD_MS,
      },
      options,
    );
  }

  /** Lists a folder, by default the home folder: `GET /api/v1/computers/{id}/files/list`. */
  async listFiles(id: string, path?: FilePath, options?: CallOptions): Promise<FileList> {
    const query = path === undefined ? {} : pathMember(path);
    return this.read(route`/api/v1/computers/${id}/files/list`, options, query);
  }

  /** Opens a page on which a person sees the screen: `POST /api/v1/computers/{id}/viewer`. */
  async viewer(id: string, viewer: ViewerBody = {}, options?: CallOptions): Promise<OpenedViewer> {
    const body = jsonBody(viewer);
    return this.transport.object(
      { method: 'POST', path: route`/api/v1/computers/${id}/viewer`, body },
      options,
    );
  }

  /** Closes one session of a viewer, or all, and says how many: `POST /api/v1/computers/{id}/sessions/close`. */
  async closeSessions(
    id: string,
    which: { readonly sessionId?: string | null | undefined } = {},
    options?: CallOptions,
  ): Promise<{ readonly closed: number }> {
    const path = route`/api/v1/computers/${id}/sessions/close`;
    return this.transport.object({ method: 'POST', path, body: optionalJsonBody(which) }, options);
  }
}
