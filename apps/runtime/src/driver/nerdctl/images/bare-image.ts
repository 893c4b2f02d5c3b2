import { createHash } from 'node:crypto';
import type { InspectedImage } from './image-facts.js';
import { tarArchive } from './tar-archive.js';

const OCI = 'application/vnd.oci.image';

/** The name of the bare image of an image with that digest. */
export const bareImageName = (digest: string): string =>
  `berth.local/box:${digest.slice(digest.indexOf(':') + 1)}`;

/**
 * An archive for `nerdctl load` with an image of the same layers that says nothing: its variables would reach the guest,
 * which runs with more rights than the agent (LD_PRELOAD, NODE_OPTIONS), and nerdctl would create a volume on the host for
 * each VOLUME. The layers are not in the archive; containerd has them.
 */
export const bareImageArchive = ({ Image, Manifest, ImageConfig }: InspectedImage): Buffer => {
  const blobs: Record<string, Buffer> = {};
  const store = (mediaType: string, value: object) => {
    const bytes = Buffer.from(JSON.stringify(value));
    const hash = createHash('sha256').update(bytes).digest('hex');
    blobs[`blobs/sha256/${hash}`] = bytes;
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length };
  };
  const { architecture, variant, os, rootfs } = ImageConfig;
  const config = store(`${OCI}.config.v1+json`, { architecture, variant, os, config: {}, rootfs });
  const mediaType = `${OCI}.manifest.v1+json`;
  const manifest = store(mediaType, { schemaVersion: 2, mediaType, config, layers: Manifest.layers });
  const annotations = { 'io.containerd.image.name': bareImageName(Image.Target.digest) };
  return tarArchive({
    'oci-layout': Buffer.from(JSON.stringify({ imageLayoutVersion: '1.0.0' })),
    'index.json': Buffer.from(
      JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
    ),
    ...blobs,
  });
};
