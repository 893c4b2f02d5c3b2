import { describe, expect, it } from 'vitest';
import { imagesOf } from './dockerfile-images.plan.js';

const images = (...lines: readonly string[]): readonly string[] =>
  imagesOf(lines.join('\n'), { TARGETARCH: 'amd64' });

describe('the images of a Dockerfile', () => {
  it('are those of its stages, but not the stages themselves, each once', () => {
    expect(
      images(
        '# syntax=docker/dockerfile:1',
        'FROM --platform=$BUILDPLATFORM node:22 AS Build',
        'FROM debian:12',
        'from build as test',
        'FROM scratch',
        'FROM debian:12',
        'COPY --from=build /a /b',
        'COPY --from=0 /a /b',
      ),
    ).toEqual(['node:22', 'debian:12']);
  });

  it('are also those that files are copied or mounted from', () => {
    expect(
      images(
        'FROM scratch',
        'COPY --chown=1:1 --from=tools:1 /a /b',
        'RUN --mount=type=cache,target=/c --mount=type=bind,from=tools:2,target=/t make',
        'RUN echo --from=no:1 from=no:2',
      ),
    ).toEqual(['tools:1', 'tools:2']);
  });

  it('follow from the variables before the first stage and their defaults', () => {
    expect(
      images(
        'ARG VERSION=12 EMPTY=',
        'ARG NAME="debian"',
        'ARG UNSET',
        'ARG WHOLE=$NAME:${VERSION}',
        'FROM $WHOLE',
        'ARG VERSION=13',
        'FROM a:${UNSET:-1}-${EMPTY:-2}-${EMPTY-3}-${VERSION:+4}',
        'FROM b:$TARGETARCH',
        'FROM "c:1"',
      ),
    ).toEqual(['debian:12', 'a:1-2--4', 'b:amd64', 'c:1']);
  });

  it('are not what continued lines, comments and here documents seem to say', () => {
    expect(
      images(
        'FROM \\',
        '# FROM comment:1',
        '',
        '  one:1 \\',
        '  AS two',
        'RUN <<EOF cat <<-"END"',
        'FROM here:1',
        'EOF',
        'FROM here:2',
        '\tEND',
        'RUN echo \\',
        '  FROM continued:1',
        'FROM two',
      ),
    ).toEqual(['one:1']);
    expect(images('# escape=`', 'FROM `', ' one:1', 'RUN C:\\', 'FROM two:1')).toEqual(['one:1', 'two:1']);
  });

  it('do not include names that only a build can resolve, and an empty Dockerfile has none', () => {
    expect(images('ARG A=x', 'FROM ${A#x}', 'FROM', 'FROM --platform=x', 'COPY --from= a b')).toEqual([]);
    expect(images('')).toEqual([]);
  });
});
