import java.util.Arrays;
import java.util.Map;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.sqs.SqsClient;

/** A task that uses S3, DynamoDB and SQS, at the endpoint and with the key that variables name. */
final class Client {

    private static final byte[] BODY = new byte[3_000_000];

    public static void main(String[] arguments) {
        Arrays.fill(BODY, (byte) 'x');
        storeAsynchronously(arguments[0]);
        store(arguments[0]);
        keepAnItem();
        sendAMessage();
    }

    private static void storeAsynchronously(String bucket) {
        try (S3AsyncClient s3 = S3AsyncClient.create()) {
            s3.putObject(object -> object.bucket(bucket).key("data/async"),
                    AsyncRequestBody.fromBytes(BODY)).join();
            byte[] read = s3.getObject(object -> object.bucket(bucket).key("data/async"),
                    AsyncResponseTransformer.toBytes()).join().asByteArray();
            System.out.println("async " + Arrays.equals(BODY, read));
        }
    }

    private static void store(String bucket) {
        try (S3Client s3 = S3Client.create()) {
            s3.putObject(object -> object.bucket(bucket).key("data/sync"),
                    RequestBody.fromBytes(BODY));
            byte[] read = s3.getObjectAsBytes(
                    object -> object.bucket(bucket).key("data/sync")).asByteArray();
            System.out.println("sync " + Arrays.equals(BODY, read));
            printRefusal("s3", () -> s3.putObject(object -> object.bucket(bucket).key("results/a"),
                    RequestBody.fromString("a")));
        }
    }

    private static void keepAnItem() {
        Map<String, AttributeValue> item = Map.of("id", AttributeValue.fromS("file-1"));
        try (DynamoDbClient tables = DynamoDbClient.create()) {
            tables.putItem(request -> request.tableName("mine").item(item));
            Map<String, AttributeValue> read =
                    tables.getItem(request -> request.tableName("mine").key(item)).item();
            System.out.println("item " + read.equals(item));
            printRefusal("dynamodb",
                    () -> tables.putItem(request -> request.tableName("theirs").item(item)));
        }
    }

    private static void sendAMessage() {
        try (SqsClient queues = SqsClient.create()) {
            String queue = queues.getQueueUrl(request -> request.queueName("mine")).queueUrl();
            queues.sendMessage(request -> request.queueUrl(queue).messageBody("compact"));
            String received = queues.receiveMessage(request -> request.queueUrl(queue))
                    .messages().get(0).body();
            System.out.println("message " + received);
            printRefusal("sqs", () -> queues.getQueueUrl(request -> request.queueName("theirs")));
        }
    }

    private static void printRefusal(String service, Runnable call) {
        try {
            call.run();
            System.out.println(service + " is open");
        } catch (AwsServiceException refusal) {
            System.out.println(service + " " + refusal.statusCode() + " "
                    + refusal.awsErrorDetails().errorMessage());
        }
    }
}
