// A client of the CRI Network API as a container runtime in Go would have it: `client SOCKET` reads calls from stdin, one JSON object a line
// ({"method", "request"}), and prints one line for each answer. WatchPodNetwork prints a line for each event, while further calls are read.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "plexus.test/network-client/networkpb"
)

type call struct {
	Method  string          `json:"method"`
	Request json.RawMessage `json:"request"`
}

type answer struct {
	Response json.RawMessage `json:"response,omitempty"`
	Event    json.RawMessage `json:"event,omitempty"`
	Error    *failure        `json:"error,omitempty"`
}

type failure struct {
	Code     uint32            `json:"code"`
	Message  string            `json:"message"`
	Reason   string            `json:"reason"`
	Domain   string            `json:"domain"`
	Metadata map[string]string `json:"metadata"`
}

var form = protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}

type client struct {
	runtime pb.RuntimeServiceClient
	network pb.NetworkServiceClient
	out     sync.Mutex
}

func main() {
	connection, err := grpc.NewClient("unix://"+os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		fail(err)
	}
	c := &client{runtime: pb.NewRuntimeServiceClient(connection), network: pb.NewNetworkServiceClient(connection)}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var next call
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			fail(err)
		}
		c.serve(next)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (c *client) serve(next call) {
	switch next.Method {
	case "SetPodNetwork":
		unary(c, next, &pb.SetPodNetworkRequest{}, c.runtime.SetPodNetwork)
	case "RemovePodNetwork":
		unary(c, next, &pb.RemovePodNetworkRequest{}, c.runtime.RemovePodNetwork)
	case "ListPodNetwork":
		unary(c, next, &pb.ListPodNetworkRequest{}, c.runtime.ListPodNetwork)
	case "PodSandboxNetworkStatus":
		unary(c, next, &pb.PodSandboxNetworkStatusRequest{}, c.network.PodSandboxNetworkStatus)
	case "AttachInterface":
		unary(c, next, &pb.AttachInterfaceRequest{}, c.network.AttachInterface)
	case "DetachInterface":
		unary(c, next, &pb.DetachInterfaceRequest{}, c.network.DetachInterface)
	case "WatchPodNetwork":
		go c.watch()
	default:
		fail(fmt.Errorf("there is no method %q", next.Method))
	}
}

func unary[Q, A proto.Message](c *client, next call, request Q, method func(context.Context, Q, ...grpc.CallOption) (A, error)) {
	if err := protojson.Unmarshal(next.Request, request); err != nil {
		fail(err)
	}
	limited, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	response, err := method(limited, request)
	if err != nil {
		c.print(answer{Error: failureOf(err)})
		return
	}
	c.print(answer{Response: text(response)})
}

func (c *client) watch() {
	stream, err := c.network.WatchPodNetwork(context.Background(), &pb.WatchPodNetworkRequest{})
	for err == nil {
		var event *pb.WatchPodNetworkEvent
		if event, err = stream.Recv(); err == nil {
			c.print(answer{Event: text(event)})
		}
	}
	c.print(answer{Error: failureOf(err)})
}

func text(message proto.Message) json.RawMessage {
	bytes, err := form.Marshal(message)
	if err != nil {
		fail(err)
	}
	return bytes
}

func failureOf(err error) *failure {
	known := status.Convert(err)
	result := &failure{Code: uint32(known.Code()), Message: known.Message()}
	for _, detail := range known.Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			result.Reason, result.Domain, result.Metadata = info.Reason, info.Domain, info.Metadata
		}
	}
	return result
}

func (c *client) print(line answer) {
	c.out.Lock()
	defer c.out.Unlock()
	bytes, err := json.Marshal(line)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(bytes))
}
