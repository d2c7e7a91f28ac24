#!/bin/sh
# Install RocksDB's Java library of a version from Maven Central, and compile the program with it.
set -eu
for tool in mvn javac; do
    command -v "$tool" > /dev/null || { echo "$tool is missing: Maven and a JDK 17 are needed"; exit 1; }
done
mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="org.rocksdb:rocksdbjni:$TIDEMARK_VERSION" -DoutputDirectory="$TIDEMARK_PREPARED"
mv "$TIDEMARK_PREPARED"/rocksdbjni-*.jar "$TIDEMARK_PREPARED/rocksdbjni.jar"
# A file may be replaced on its way: the listed versions have the digests of their files.
pinned=$(sed -n "s/  $TIDEMARK_VERSION\$//p" jars.sha256)
[ -z "$pinned" ] || echo "$pinned  $TIDEMARK_PREPARED/rocksdbjni.jar" | sha256sum --check --quiet
javac -d "$TIDEMARK_PREPARED" -cp "$TIDEMARK_PREPARED/rocksdbjni.jar" RecordStore.java
