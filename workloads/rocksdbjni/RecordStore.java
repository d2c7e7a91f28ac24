import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;
import org.rocksdb.AbstractEventListener;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.CompactionJobInfo;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * A store of records in the folder of its argument, which obeys one command a line and answers each
 * with one line: "version", "batch FILE", "write", "compact", "tally", "read" and, at last, "close".
 */
public final class RecordStore {
    private static final int KEY_BYTES = 16;
    private static final int RECORD_BYTES = 116;

    private final AtomicLong recordsRead = new AtomicLong();
    private final List<WriteBatch> batches = new ArrayList<>();
    private final RocksDB store;

    private RecordStore(String folder) throws RocksDBException {
        AbstractEventListener listener = new AbstractEventListener() {
            @Override
            public void onCompactionCompleted(RocksDB db, CompactionJobInfo job) {
                recordsRead.addAndGet(job.stats().numInputRecords());
            }
        };
        // Compaction is measured separately, and a compressor cannot shrink random values.
        Options options = new Options().setCreateIfMissing(true).setDisableAutoCompactions(true)
                .setWriteBufferSize(16 << 20).setMaxWriteBufferNumber(4)
                .setCompressionType(CompressionType.NO_COMPRESSION)
                .setListeners(List.of(listener));
        store = RocksDB.open(options, folder);
    }

    private String obey(String command, String file) throws RocksDBException, IOException {
        switch (command) {
            case "version":
                return RocksDB.rocksdbVersion().toString();
            case "batch":
                batches.add(batch(Files.readAllBytes(Path.of(file))));
                return "done";
            case "write":
                return write();
            case "compact":
                return compact();
            case "tally":
                return tally();
            case "read":
                return Long.toString(recordsRead.get());
            case "close":
                store.close();
                return "done";
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private static WriteBatch batch(byte[] records) throws RocksDBException {
        WriteBatch batch = new WriteBatch();
        for (int at = 0; at < records.length; at += RECORD_BYTES) {
            batch.put(Arrays.copyOfRange(records, at, at + KEY_BYTES),
                    Arrays.copyOfRange(records, at + KEY_BYTES, at + RECORD_BYTES));
        }
        return batch;
    }

    private String write() throws RocksDBException {
        try (WriteOptions options = new WriteOptions(); FlushOptions flush = new FlushOptions()) {
            for (WriteBatch batch : batches) {
                store.write(options, batch);
            }
            store.flush(flush.setWaitForFlush(true));
        }
        return "done";
    }

    private String compact() throws RocksDBException {
        try (CompactRangeOptions options = new CompactRangeOptions()) {
            // By default, RocksDB moves a single file to the next level without reading it.
            options.setBottommostLevelCompaction(
                    CompactRangeOptions.BottommostLevelCompaction.kForceOptimized);
            store.compactRange(store.getDefaultColumnFamily(), null, null, options);
        }
        return "done";
    }

    private String tally() {
        CRC32 checksum = new CRC32();
        long records = 0;
        try (RocksIterator each = store.newIterator()) {
            for (each.seekToFirst(); each.isValid(); each.next()) {
                checksum.update(each.key());
                checksum.update(each.value());
                records++;
            }
        }
        return records + " " + checksum.getValue();
    }

    public static void main(String[] arguments) throws Exception {
        RocksDB.loadLibrary();
        RecordStore store = new RecordStore(arguments[0]);
        BufferedReader commands =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // The end of the input is the end of the measuring process.
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ", 2);
            System.out.println(store.obey(words[0], words.length > 1 ? words[1] : ""));
        }
    }
}
