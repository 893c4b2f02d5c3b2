import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { contentType } from 'mime-types';

/** A file as it is sent. */
export interface ViewerFile {
  readonly type: string;
  readonly content: Buffer;
}

const require = createRequire(import.meta.url);
const OWN = join(dirname(require.resolve('@berth/gateway/package.json')), 'assets/viewer');
/** Browsers load its modules as they are in the package. */
const NOVNC = dirname(dirname(require.resolve('@novnc/novnc')));
const NOVNC_FOLDERS = ['core', 'vendor'];

/** The page and, by their paths, the files that it loads. */
export interface ViewerFiles {
  readonly page: Buffer;
  readonly assets: ReadonlyMap<string, ViewerFile>;
}

let known: ViewerFiles | undefined;

/** Reads the files on the first call. The page loads nothing from other servers. */
export const viewerFiles = (): ViewerFiles => {
  known ??= {
    page: readFileSync(join(OWN, 'index.html')),
    assets: new Map([
      ...['viewer.js', 'viewer.css'].map((name) => assetOf(`/assets/${name}`, join(OWN, name))),
      ...NOVNC_FOLDERS.flatMap((folder) => modulesIn(folder)).map((name) =>
        assetOf(`/assets/novnc/${name}`, join(NOVNC, name)),
      ),
    ]),
  };
  return known;
};

const modulesIn = (folder: string): readonly string[] =>
  readdirSync(join(NOVNC, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => extname(name) === '.js')
    .map((name) => `${folder}/${name}`);

const assetOf = (path: string, file: string): readonly [string, ViewerFile] => [
  path,
  { type: contentType(extname(file)) || 'application/octet-stream', content: readFileSync(file) },
];
