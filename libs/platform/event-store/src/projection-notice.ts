import type { Build } from './projection-table.js';

/** A notice about more streams than this does not list them: any stream may have changed. */
const MOST_STREAMS = 500;

/** An advance of the serving tables. */
export interface ProjectionAdvance {
  readonly build: Pick<Build, 'version' | 'build' | 'position'>;
  /** The position before; null when the tables were empty. */
  readonly from: bigint | null;
  /** The streams whose events were applied; null: any. */
  readonly streams: readonly string[] | null;
}

/** Topic of the notices of a projection among the processes of its service. */
export const projectionTopic = (projection: string): string => `projections.${projection}`;

export const toNotice = ({ build, from, streams }: ProjectionAdvance): string =>
  JSON.stringify({
    version: build.version,
    build: build.build,
    from: from === null ? null : String(from),
    to: build.position === null ? null : String(build.position),
    streams: streams !== null && streams.length > MOST_STREAMS ? null : streams,
  });

interface Notice {
  readonly version: number;
  readonly build: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly streams: readonly string[] | null;
}

export const fromNotice = (text: string): ProjectionAdvance => {
  const { version, build, from, to, streams } = JSON.parse(text) as Notice;
  return { build: { version, build, position: positionOf(to) }, from: positionOf(from), streams };
};

const positionOf = (text: string | null): bigint | null => (text === null ? null : BigInt(text));
